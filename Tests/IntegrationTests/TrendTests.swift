import Foundation
import Testing

@Suite("The command `trend`", .endsHangs)
struct TrendTests {
  private func page(_ project: TemporaryProject, _ name: String = ".highwater/trend.html") throws -> String {
    try String(contentsOf: project.url(name), encoding: .utf8)
  }

  @Test("`--history` needs no project file")
  func withoutProject() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Highwater.run("check", in: project)
    let other = try TemporaryProject()
    try Data(contentsOf: project.url(".highwater/history.sqlite")).write(to: other.url("h.sqlite"))
    let outcome = try Highwater.run("trend", "--history", "h.sqlite", in: other)
    #expect(outcome.code == 0 && outcome.errors == "1 run of 1 scenario: trend.html\n", "\(outcome.errors)")
    #expect(try page(other, "trend.html").contains("load"))
  }

  @Test(
    "A read-only history can be shown and exported, but not pruned",
    .enabled(if: Confinement.canDropPrivileges, "needs root, to drop privileges"))
  func readOnly() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Highwater.run("check", in: project)
    let folder = project.url("kept %23 for?ever")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "h.sqlite")
    try FileManager.default.copyItem(at: project.url(".highwater/history.sqlite"), to: file)
    let before = try Data(contentsOf: file)
    // Other users may read everything and write nothing.
    for path in [project.url(".").path, folder.path] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    func run(_ words: String...) throws -> Highwater.Outcome {
      let history = ["--history", file.path]
      return try Highwater.start(words + history, in: project, launcher: Confinement.launcher(without: [.privileges]))
        .wait()
    }
    let trend = try run("trend", "--output", "-")
    #expect(trend.code == 0 && trend.output.hasPrefix("<!doctype html>"), "\(trend.errors)")
    #expect(try run("history", "list").output.contains("no-baseline"))
    #expect(try run("history", "export").output == Highwater.run("history", "export", in: project).output)
    let prune = try run("history", "prune", "--keep", "1")
    #expect(prune.code == 2 && prune.errors.contains("cannot be used"), "\(prune.errors)")
    #expect(try Data(contentsOf: file) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["h.sqlite"])
  }
}
