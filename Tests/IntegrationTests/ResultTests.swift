import Foundation
import Testing

@Suite("The result file")
struct ResultTests {
  /// The mismatches of the last result with the documented shape, its only scenario and its exit code.
  private func inspect(_ project: TemporaryProject) throws -> (
    mismatches: [String], scenario: [String: Any], code: Int?
  ) {
    let result = try project.result()
    let scenarios = try #require(result["scenarios"] as? [[String: Any]])
    return (Shape.result.mismatches(of: result), try #require(scenarios.first), result["exitCode"] as? Int)
  }

  @Test("The shape check finds missing keys and values of another type")
  func shapeCheck() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Highwater.run("check", in: project)
    var result = try project.result()
    result["exitCode"] = "1"
    result["run"] = ["id": "x"]
    let mismatches = Shape.result.mismatches(of: result)
    #expect(mismatches.contains { $0.hasPrefix("$.exitCode is 1") })
    #expect(mismatches.contains { $0.hasPrefix("$.run.id is x") })
    #expect(mismatches.contains("$.run.startedAt is missing"))
    #expect(mismatches.contains("$.run.startedAt is missing"))
  }

  @Test("Every documented key exists, whatever the verdict")
  func everyVerdict() throws {
    let project = try TemporaryProject.holding(8)
    #expect(try Highwater.run("check", in: project).code == 5)
    var seen = try inspect(project)
    #expect(seen.mismatches.isEmpty)
    #expect(seen.scenario["verdict"] as? String == "no-baseline")
    #expect(seen.code == 5)

    #expect(try Highwater.run("approve", in: project).code == 0)
    #expect(try Highwater.run("check", in: project).code == 0)
    seen = try inspect(project)
    #expect(seen.mismatches.isEmpty)
    #expect(seen.scenario["verdict"] as? String == "pass")
    #expect(seen.code == 0)

    try project.hold(12)
    #expect(try Highwater.run("check", in: project).code == 1)
    seen = try inspect(project)
    #expect(seen.mismatches.isEmpty)
    #expect(seen.code == 1)
    let metric = try #require((seen.scenario["metrics"] as? [[String: Any]])?.first)
    let absolute = try #require((metric["change"] as? [String: Any])?["absolute"] as? Double)
    #expect(abs(absolute - 4 * 1_048_576) < 524_288)
    #expect(metric["unit"] as? String == "bytes")

    try project.write("exit 7", to: "hold.pl")
    #expect(try Highwater.run("check", in: project).code == 3)
    seen = try inspect(project)
    #expect(seen.mismatches.isEmpty)
    #expect(seen.code == 3)
    let end = ((seen.scenario["repetitions"] as? [[String: Any]])?.first?["end"]) as? [String: Any]
    #expect(end?["kind"] as? String == "exited")
    #expect(end?["code"] as? Int == 7)
  }

  @Test("With `--json -` standard output has only the result, and the summary goes to standard error")
  func standardOutput() throws {
    let project = try TemporaryProject.holding(8)
    let outcome = try Highwater.run("check", "--json", "-", in: project)
    #expect(outcome.code == 5)
    #expect(Shape.result.mismatches(of: try object(in: outcome.output)).isEmpty)
    #expect(outcome.output == (try project.read(".highwater/result.json")))
    #expect(outcome.errors.contains("no-baseline"))
    let file = try Highwater.run("check", "--json", "reports/out.json", in: project)
    #expect(file.output.contains("no-baseline"))
    #expect(try project.read("reports/out.json") == project.read(".highwater/result.json"))
  }

  @Test(
    "Output is coloured only on request",
    arguments: [
      ([], [:], false), (["--color", "always"], [:], true), (["--color", "always"], ["NO_COLOR": "1"], true),
      (["--color", "auto"], ["NO_COLOR": ""], false), (["--color", "never"], ["NO_COLOR": ""], false),
    ] as [([String], [String: String], Bool)])
  func colour(options: [String], variables: [String: String], isColoured: Bool) throws {
    let project = try TemporaryProject.holding(1)
    let outcome = try Highwater.start(["check"] + options, in: project, variables: variables).wait()
    #expect(outcome.output.contains("\u{1b}[") == isColoured, "\(outcome.output)")
    #expect(!outcome.errors.contains("\u{1b}["))
  }
}
