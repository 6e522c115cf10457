import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Comparing files")
struct CompareUseTests {
  /// A project with a baseline for the first size and its result, `old.json`.
  private func project(_ before: Double, _ after: Double, keys: String = "history: off") throws -> UseCaseProject {
    let project = try UseCaseProject(holding: before, keys: keys)
    _ = try project.check { $0.options.json = "old.json" }
    try #require(try project.approve().code == .pass)
    project.measurer.hold(after)
    return project
  }

  @Test(
    "Results and baselines are judged as by the check, repeatably",
    arguments: [(8.0, 8.0, ExitCode.pass), (8, 12, .regression), (12, 8, .pass)])
  func sameAsCheck(before: Double, after: Double, code: ExitCode) throws {
    let project = try project(before, after)
    let check = try project.check { $0.options.json = "new.json" }
    #expect(check.code == code, "\(check.output)")
    for base in ["old.json", try project.baseline()] {
      let compared = try project.compare(base, "new.json")
      #expect(compared.code == code, "\(compared.text)")
      #expect(compared.verdict == check.verdict)
      #expect(try project.compare(base, "new.json").output == compared.output)
      let json = try project.compare(base, "new.json") { $0.options.json = "-" }
      #expect(try project.compare(base, "new.json") { $0.options.json = "-" }.output == json.output)
      #expect(json.code == code)
      #expect(json.errors.contains(check.verdict ?? "?"), "the summary goes to standard error")
      try project.write(json.output, to: "compared.json")
      #expect(try judgement(in: "compared.json", of: project) == judgement(in: "new.json", of: project))
    }
  }

  /// The judgement of the metrics of a result's only scenario, as text.
  private func judgement(in file: String, of project: UseCaseProject) throws -> String {
    let metrics = try #require(project.scenario(of: file)["metrics"])
    return String(decoding: try JSONSerialization.data(withJSONObject: metrics, options: .sortedKeys), as: UTF8.self)
  }

  @Test("Comparing the same files twice writes the same bytes, judged as by the check")
  func repeatable() throws {
    let project = try UseCaseProject(holding: 24, repetitions: "{min: 5, max: 20}")
    project.measurer.hold(24, 24.5, 25, 24.2)
    #expect(try project.check { $0.options.json = "base.json" }.code == .noBaseline)
    project.measurer.hold(26, 26.4, 27, 26.1)
    #expect(try project.approve { $0.from = "base.json" }.code == .pass)
    #expect(try project.check { $0.options.json = "now.json" }.code == .regression)
    for name in ["one.json", "two.json"] {
      #expect(try project.compare("base.json", "now.json") { $0.options.json = name }.code == .regression)
    }
    #expect(try project.read("one.json") == project.read("two.json"))
    #expect(try judgement(in: "one.json", of: project) == judgement(in: "now.json", of: project))
  }

  @Test("Two baselines are judged by the standard gate")
  func baselines() throws {
    let project = try project(8, 12)
    let file = try project.baseline()
    try project.write(project.read(file), to: "then.json")
    #expect(try project.compare("then.json", file).code == .pass)
    _ = try project.check()
    // In place of the baseline, not as a change beside it.
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    let compared = try project.compare("then.json", file)
    #expect(compared.code == .regression, "\(compared.output)")
    #expect(try project.compare(file, "then.json").code == .pass)
  }

  @Test("Files of different environments are not compared, and the differing field is named")
  func otherEnvironment() throws {
    let project = try project(8, 8)
    _ = try project.check { $0.options.json = "new.json" }
    try project.editFingerprint("cpus", 64)
    let compared = try project.compare(project.baseline(), "new.json")
    #expect(compared.code == .noBaseline, "\(compared.errors)")
    #expect(compared.text.contains("cpus 64 → "))
    #expect(try project.compare(project.baseline(), "new.json") { $0.allowsMissingBaseline = true }.code == .noBaseline)
  }

  @Test("Ignored fields are stored in the result file and apply here, too")
  func ignoredFields() throws {
    let project = try project(8, 12, keys: "environment: {name: ci, ignore: [cpus]}\nhistory: off")
    try project.editFingerprint("cpus", 64)
    let check = try project.check { $0.options.json = "new.json" }
    #expect(check.code == .regression)
    let compared = try project.compare(project.baseline(), "new.json")
    #expect(compared.code == .regression, "\(compared.text)")
    #expect(compared.verdict == check.verdict)
  }

  @Test("A scenario in only one of the files is named")
  func oneSided() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      defaults: {repetitions: 1, warmup: 0, gate: {peak_rss: 50%}}
      scenarios:
        - {name: one, target: {command: [a]}}
        - {name: two, target: {command: [a]}}
      """, holding: 8)
    _ = try project.check { $0.options.json = "both.json" }
    _ = try project.check { ($0.selection, $0.options.json) = (["one"], "one.json") }
    let vanished = try project.compare("both.json", "one.json")
    #expect(vanished.code == .pass)
    #expect(vanished.output.contains("only in the base: two"), "\(vanished.output)")
    #expect(try project.compare("one.json", "both.json").code == .noBaseline)
    #expect(try project.compare("one.json", "both.json") { $0.allowsMissingBaseline = true }.code == .pass)
  }

  @Test("A scenario that failed in the check is failed here, too")
  func failed() throws {
    let project = try project(8, 8)
    project.measurer.follow { _, _ in .holding(8, end: End(.exited, code: 7)) }
    #expect(try project.check { $0.options.json = "new.json" }.code == .failed)
    #expect(try project.compare("old.json", "new.json").code == .failed)
    #expect(try project.compare("new.json", "old.json").code == .noBaseline)
  }

  @Test(
    "A file that cannot be compared exits with 2, its name and a hint",
    arguments: [
      ("missing.json", "no such file"), (".", "is a folder, not a file"), ("highwater.yml", "error:"),
      ("empty.json", "error:"), ("none.json", "no scenario"),
    ])
  func unusable(name: String, expected: String) throws {
    let project = try project(8, 8)
    try project.write("{}", to: "empty.json")
    try project.write(project.read("old.json"), to: "none.json")
    try project.edit("none.json") { $0["scenarios"] = [Any]() }
    for (base, current) in [(name, "old.json"), ("old.json", name)] {
      let compared = try project.compare(base, current)
      #expect(compared.code == .usage)
      #expect(compared.errors.contains(name) && compared.errors.contains(expected), "\(compared.errors)")
      #expect(compared.errors.contains("hint:") || name == "missing.json", "\(compared.errors)")
      #expect(compared.output.isEmpty)
    }
  }

  @Test("The page of a comparison shows both results")
  func page() throws {
    let project = try project(24, 32)
    #expect(try project.check { $0.options.json = "now.json" }.code == .regression)
    let compared = try project.compare("old.json", "now.json") { $0.options.html = "-" }
    #expect(compared.code == .regression)
    #expect(compared.output.hasPrefix("<!doctype html>") && compared.errors.contains("peak_rss rose by"))
    #expect(compared.output.contains("the baseline</span>") || compared.output.contains("the baseline<"))
  }

  @Test("A baseline is compared with the changes that were approved since, as by the check")
  func approvedChanges() throws {
    let project = try project(8, 12)
    #expect(try project.check().code == .regression)
    #expect(try project.approve().code == .pass)
    #expect(try project.baselines().keys.contains { $0.contains("/changes/") })
    #expect(try project.check { $0.options.json = "new.json" }.code == .pass)
    #expect(try project.compare(project.baseline(), "new.json").code == .pass)
  }
}
