import Foundation
import Testing

@Suite("Comparing files")
struct CompareTests {
  /// A project whose baseline is of 8 MiB, with `old.json` and `new.json`, the results of checks at two sizes.
  private func measured(_ before: Int, _ after: Int, keys: String = "") throws -> TemporaryProject {
    let project = try TemporaryProject.holding(before, keys: keys)
    _ = try Gate.run("check", "--json", "old.json", in: project)
    try #require(Gate.run("approve", in: project).code == 0)
    try project.hold(after)
    return project
  }

  @Test(
    "Results and baselines are judged as the check judged them, and alike each time",
    arguments: [
      (8, 8, 0 as Int32), (8, 12, 1), (12, 8, 0),
    ])
  func sameAsCheck(before: Int, after: Int, code: Int32) throws {
    let project = try measured(before, after)
    let check = try Gate.run("check", "--json", "new.json", in: project)
    #expect(check.code == code, "\(check.output)")
    let baseline = try project.baselineFile().path
    for base in ["old.json", baseline] {
      let outcome = try Gate.run("compare", base, "new.json", in: project)
      #expect(outcome.code == code, "\(outcome.output)\(outcome.errors)")
      #expect(outcome.verdict == check.verdict)
      let again = try Gate.run("compare", base, "new.json", in: project)
      #expect(again.output == outcome.output)
      let json = try Gate.run("compare", base, "new.json", "--json", "-", in: project)
      let repeated = try Gate.run("compare", base, "new.json", "--json", "-", in: project)
      #expect(json.output == repeated.output)
      #expect(json.code == code)
      #expect(try judgement(in: json.output) == judgement(in: project.read("new.json")))
      #expect(json.errors.contains(check.verdict ?? "?"), "the summary goes to standard error")
      #expect(Shape.result.faults(of: try object(in: json.output)).isEmpty)
    }
  }

  /// How the metrics of a result's first scenario were judged, as comparable text.
  private func judgement(in text: String) throws -> String {
    let scenarios = try #require(try object(in: text)["scenarios"] as? [[String: Any]])
    let metrics = try #require(scenarios.first?["metrics"])
    return String(decoding: try JSONSerialization.data(withJSONObject: metrics, options: .sortedKeys), as: UTF8.self)
  }

  @Test("Two baselines are judged by the standard gate")
  func baselines() throws {
    let project = try measured(8, 12)
    let file = try project.baselineFile()
    try FileManager.default.copyItem(at: file, to: project.url("then.json"))
    #expect(try Gate.run("compare", "then.json", file.path, in: project).code == 0)
    _ = try Gate.run("check", in: project)
    #expect(try Gate.run("approve", in: project).code == 0)
    let outcome = try Gate.run("compare", "then.json", file.path, in: project)
    #expect(outcome.code == 1, "\(outcome.output)")
    #expect(try Gate.run("compare", file.path, "then.json", in: project).code == 0)
  }

  @Test("Files of different environments are not compared, and the field is named")
  func otherEnvironment() throws {
    let project = try measured(8, 8)
    _ = try Gate.run("check", "--json", "new.json", in: project)
    try project.editFingerprint("cpus", 64)
    let outcome = try Gate.run("compare", project.baselineFile().path, "new.json", in: project)
    #expect(outcome.code == 5, "\(outcome.errors)")
    #expect(outcome.words.contains("cpus 64 → "))
    let lenient = try Gate.run(
      "compare", "--allow-missing-baseline", project.baselineFile().path, "new.json", in: project
    )
    #expect(lenient.code == 0)
  }

  @Test("Fields that the team ignores are ignored here, too: the result file says which")
  func ignoredFields() throws {
    let project = try measured(8, 12, keys: "environment: {name: ci, ignore: [cpus]}")
    try project.editFingerprint("cpus", 64)
    let check = try Gate.run("check", "--json", "new.json", in: project)
    #expect(check.code == 1)
    let outcome = try Gate.run("compare", project.baselineFile().path, "new.json", in: project)
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.verdict == check.verdict)
  }

  @Test("A scenario that only one of the files has is told of")
  func oneSided() throws {
    let project = try TemporaryProject(
      """
      version: 1
      defaults: {repetitions: 1, warmup: 0, gate: {peak_rss: 50%}}
      scenarios:
        - {name: one, target: {command: [sleep, "0.05"]}}
        - {name: two, target: {command: [sleep, "0.05"]}}
      """)
    _ = try Gate.run("check", "--json", "both.json", in: project)
    _ = try Gate.run("check", "one", "--json", "one.json", in: project)
    let vanished = try Gate.run("compare", "both.json", "one.json", in: project)
    #expect(vanished.code == 0)
    #expect(vanished.output.contains("only the base has: two"), "\(vanished.output)")
    #expect(try Gate.run("compare", "one.json", "both.json", in: project).code == 5)
    #expect(try Gate.run("compare", "one.json", "both.json", "--allow-missing-baseline", in: project).code == 0)
  }

  @Test("A scenario that failed is failed here, too")
  func failed() throws {
    let project = try measured(8, 8)
    try project.write("exit 7", to: "hold.pl")
    #expect(try Gate.run("check", "--json", "new.json", in: project).code == 3)
    #expect(try Gate.run("compare", "old.json", "new.json", in: project).code == 3)
    #expect(try Gate.run("compare", "new.json", "old.json", in: project).code == 5)
  }

  @Test(
    "What is no such file ends with 2, its name and a hint",
    arguments: [
      ("missing.json", "no such file"), (".", "not a regular file"), ("highwater.yml", "error:"),
      ("empty.json", "error:"),
      ("none.json", "no scenario"),
    ])
  func broken(name: String, expected: String) throws {
    let project = try measured(8, 8)
    try project.write("{}", to: "empty.json")
    try FileManager.default.copyItem(at: project.url("old.json"), to: project.url("none.json"))
    try project.edit(project.url("none.json")) { $0["scenarios"] = [Any]() }
    for arguments in [["compare", name, "old.json"], ["compare", "old.json", name]] {
      let outcome = try Gate.start(arguments, in: project).wait()
      #expect(outcome.code == 2)
      #expect(outcome.errors.contains(name) && outcome.errors.contains(expected), "\(outcome.errors)")
      #expect(outcome.errors.contains("hint:") || name == "missing.json", "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
  }
}
