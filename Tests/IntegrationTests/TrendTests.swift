import Foundation
import Testing

@Suite("The trend page, from outside", .timeLimit(.minutes(10)))
struct TrendTests {
  private func page(_ project: TemporaryProject, _ name: String = ".highwater/trend.html") throws -> String {
    try String(contentsOf: project.url(name), encoding: .utf8)
  }

  /// The JSON that the page's scripts work on.
  private func data(in page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: "id=\"data\">"))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let json = Data(page[start.upperBound..<end.lowerBound].utf8)
    return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
  }

  @Test(
    "Each check leaves the history as a page in its artifacts, and `trend` writes the same anew where it is told to")
  func afterCheck() throws {
    let project = try TemporaryProject.holding(
      8, keys: "links: {commit: \"https://git.example/c/{commit}\"}\nhistory: kept/h.sqlite")
    _ = try Gate.shell(
      """
      git init -q . && git add -A && git -c user.name=Ann -c user.email=ann@example.org \
        commit -q -m 'Hold <b>eight</b> mebibytes'
      """, in: project)
    try project.approveOnce()
    let check = try Gate.run("check", in: project)
    #expect(check.code == 0 && check.output.contains("trend        .highwater/trend.html\n"), "\(check.output)")
    let left = try page(project)
    #expect(left.contains("load") && left.contains("Content-Security-Policy"))
    #expect(left.contains("Hold \\u003cb>eight\\u003c/b> mebibytes") && !left.contains("<b>eight"))
    #expect(try data(in: left).isEmpty == false)

    let written = try Gate.run("trend", "--output", "pages/t.html", in: project)
    #expect(written.code == 0 && written.errors == "2 runs of 1 scenario: pages/t.html\n", "\(written.errors)")
    let printed = try Gate.run("trend", "--output", "-", in: project)
    #expect(printed.code == 0 && printed.output.hasPrefix("<!doctype html>"))
    // The instant at which a page was made is all that differs.
    let first = try #require(try data(in: left)["runs"] as? NSObject)
    #expect(try data(in: printed.output)["runs"] as? NSObject == first)
    #expect(try data(in: page(project, "pages/t.html"))["runs"] as? NSObject == first)
  }

  @Test("A named history needs no project file")
  func withoutProject() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Gate.run("check", in: project)
    let other = try TemporaryProject()
    try Data(contentsOf: project.url(".highwater/history.sqlite")).write(to: other.url("h.sqlite"))
    let outcome = try Gate.run("trend", "--history", "h.sqlite", in: other)
    #expect(outcome.code == 0 && outcome.errors == "1 run of 1 scenario: trend.html\n", "\(outcome.errors)")
    #expect(try page(other, "trend.html").contains("load"))
  }

  @Test("A page that cannot be written costs no verdict and is told")
  func unwritable() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    try FileManager.default.createDirectory(
      at: project.url(".highwater/trend.html/in-the-way"), withIntermediateDirectories: true)
    let check = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(check.code == 0, "\(check.errors)")
    #expect(check.errors.contains("there is no new trend page: .highwater/trend.html"), "\(check.errors)")
    let trend = try Gate.run("trend", in: project)
    #expect(trend.code == 2 && trend.errors.contains("trend.html"), "\(trend.errors)")
  }

  @Test("Without a history, or with a damaged one, there is no page, and what was there stays")
  func noHistory() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    let missing = try Gate.run("trend", in: project)
    #expect(missing.code == 2 && missing.errors.contains("there is no history yet"))
    let damaged = String(repeating: "no database ", count: 100)
    try project.write(damaged, to: "h.sqlite")
    try project.write("kept", to: "t.html")
    let outcome = try Gate.run("trend", "--history", "h.sqlite", "--output", "t.html", in: project)
    #expect(outcome.code == 2 && outcome.errors.contains("h.sqlite: error: is damaged"), "\(outcome.errors)")
    #expect(try page(project, "t.html") == "kept")
    #expect(try page(project, "h.sqlite") == damaged)
  }

  @Test(
    "A history that may only be read is shown and exported all the same, and is not pruned",
    .enabled(if: Confinement.canDropPrivileges, "needs root, to give its rights up"))
  func readOnly() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Gate.run("check", in: project)
    let folder = project.url("kept %23 for?ever")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "h.sqlite")
    try FileManager.default.copyItem(at: project.url(".highwater/history.sqlite"), to: file)
    let before = try Data(contentsOf: file)
    // Others may look at all of it, and write nothing.
    for path in [project.url(".").path, folder.path] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    func run(_ words: String...) throws -> Gate.Outcome {
      let history = ["--history", file.path]
      return try Gate.start(words + history, in: project, launcher: Confinement.launcher(without: [.privileges])).wait()
    }
    let trend = try run("trend", "--output", "-")
    #expect(trend.code == 0 && trend.output.hasPrefix("<!doctype html>"), "\(trend.errors)")
    #expect(try run("history", "list").output.contains("no-baseline"))
    #expect(try run("history", "export").output == Gate.run("history", "export", in: project).output)
    let prune = try run("history", "prune", "--keep", "1")
    #expect(prune.code == 2 && prune.errors.contains("cannot be used"), "\(prune.errors)")
    #expect(try Data(contentsOf: file) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["h.sqlite"])
  }
}
