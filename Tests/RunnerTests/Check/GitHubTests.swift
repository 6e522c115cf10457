import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("A check on GitHub")
struct GitHubTests {
  /// A project whose scenario has regressed.
  private func regressed() throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 2)
    try project.checkAndApprove()
    project.measurer.hold(12)
    return project
  }

  private func isAnnotation(_ line: Substring) -> Bool { line.hasPrefix("::error ") || line.hasPrefix("::warning ") }

  @Test("The summary of the step is appended to, and annotations name the scenario's line")
  func reports() throws {
    let project = try regressed()
    try project.write("earlier", to: "summary.md")
    let variables = ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(project.path)/summary.md"]
    let check = try project.check(variables: variables)
    #expect(check.code == .regression)
    let annotations = check.errors.split(separator: "\n").filter(isAnnotation)
    #expect(annotations.count == 1)
    let start = "::error file=highwater.yml,line=4,title=load%3A regression::peak_rss rose by 10.0 MiB"
    #expect(annotations[0].hasPrefix(start))
    _ = try project.check(variables: variables)
    let summary = try project.read("summary.md")
    #expect(summary.hasPrefix("earlier\n<!-- highwater: highwater.yml "))
    #expect(summary.split(separator: "<!-- highwater: ").count == 3)
  }

  @Test("Files are named from the repository's root, wherever the check starts")
  func subfolder() throws {
    let project = try UseCaseProject(holding: 2)
    try project.write("version: 1\nhistory: off\ninclude: [sub/ci/more.yml]\n", to: "sub/ci/highwater.yml")
    try project.write(
      "scenarios:\n  - {name: one, target: {command: [a]}, repetitions: 1, warmup: 0}\n", to: "sub/ci/more.yml")
    try project.commit()
    let check = try project.check(variables: ["GITHUB_ACTIONS": "true"]) {
      $0.options.config = "sub/../sub/ci/highwater.yml"
    }
    #expect(check.errors.contains("::error file=sub/ci/more.yml,line=2,title=one%3A no-baseline::"), "\(check.text)")
  }

  @Test("A summary that cannot be written is a note, and the verdict stays", arguments: [2.0, 12])
  func unwritable(mebibytes: Double) throws {
    let project = try regressed()
    project.measurer.hold(mebibytes)
    for path in ["\(project.path)/none/summary.md", project.path, "/dev/full"] {
      let check = try project.check(variables: ["GITHUB_STEP_SUMMARY": path])
      #expect(check.code == (mebibytes == 2 ? .pass : .regression))
      #expect(check.errors.contains("note: the summary of the step was not written: "), "\(check.text)")
    }
  }

  @Test("Elsewhere there is neither; a pass has no annotation")
  func silent() throws {
    let project = try regressed()
    #expect(!(try project.check().errors.contains("::error")))
    project.measurer.hold(2)
    #expect(!(try project.check(variables: ["GITHUB_ACTIONS": "true"]).errors.contains("::error")))
  }
}
