import Foundation
import Testing

@Suite("The result file")
struct ResultTests {
  /// The faults of the last result's shape, and what it says.
  private func look(at project: TemporaryProject) throws -> (faults: [String], scenario: [String: Any], code: Int?) {
    let result = try project.result()
    let scenarios = try #require(result["scenarios"] as? [[String: Any]])
    return (Shape.result.faults(of: result), try #require(scenarios.first), result["exitCode"] as? Int)
  }

  @Test("A shape is no rubber stamp: what is missing or of another type shows")
  func checker() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Gate.run("check", in: project)
    var result = try project.result()
    result["exitCode"] = "1"
    result["run"] = ["id": "x"]
    let faults = Shape.result.faults(of: result)
    #expect(faults.contains { $0.hasPrefix("$.exitCode is 1") })
    #expect(faults.contains { $0.hasPrefix("$.run.id is x") })
    #expect(faults.contains("$.run.startedAt is missing"))
    #expect(faults.contains("$.run.commit is missing"))
  }

  @Test("Every key of the contract is there, whatever the verdict")
  func everyVerdict() throws {
    let project = try TemporaryProject.holding(8)
    #expect(try Gate.run("check", in: project).code == 5)
    var seen = try look(at: project)
    #expect(seen.faults.isEmpty)
    #expect(seen.scenario["verdict"] as? String == "no-baseline")
    #expect(seen.code == 5)

    #expect(try Gate.run("approve", in: project).code == 0)
    #expect(try Gate.run("check", in: project).code == 0)
    seen = try look(at: project)
    #expect(seen.faults.isEmpty)
    #expect(seen.scenario["verdict"] as? String == "pass")
    #expect(seen.code == 0)

    try project.hold(12)
    #expect(try Gate.run("check", in: project).code == 1)
    seen = try look(at: project)
    #expect(seen.faults.isEmpty)
    #expect(seen.code == 1)
    let metric = try #require((seen.scenario["metrics"] as? [[String: Any]])?.first)
    let absolute = try #require((metric["change"] as? [String: Any])?["absolute"] as? Double)
    #expect(abs(absolute - 4 * 1_048_576) < 524_288)
    #expect(metric["unit"] as? String == "bytes")

    try project.write("exit 7", to: "hold.pl")
    #expect(try Gate.run("check", in: project).code == 3)
    seen = try look(at: project)
    #expect(seen.faults.isEmpty)
    #expect(seen.code == 3)
    let end = ((seen.scenario["repetitions"] as? [[String: Any]])?.first?["end"]) as? [String: Any]
    #expect(end?["kind"] as? String == "exited")
    #expect(end?["code"] as? Int == 7)
  }

  @Test(
    "It says of which build it is",
    arguments: [
      (["GITHUB_SHA": "abc", "GITHUB_REF_NAME": "main"], "abc", "main", nil),
      (
        ["CI_COMMIT_SHA": "def", "CI_COMMIT_REF_NAME": "topic", "CI_JOB_URL": "https://ci/1"], "def", "topic",
        "https://ci/1"
      ),
    ] as [([String: String], String, String, String?)])
  func build(variables: [String: String], commit: String, branch: String, url: String?) throws {
    let project = try TemporaryProject.holding(1)
    _ = try Gate.run("check", in: project, variables: variables)
    let run = try #require(try project.result()["run"] as? [String: Any])
    #expect(run["commit"] as? String == commit)
    #expect(run["branch"] as? String == branch)
    #expect(run["buildURL"] as? String == url)
  }

  @Test("`--json -` is the result and nothing else on standard output, and the summary goes to standard error")
  func standardOutput() throws {
    let project = try TemporaryProject.holding(8)
    let outcome = try Gate.run("check", "--json", "-", in: project)
    #expect(outcome.code == 5)
    #expect(Shape.result.faults(of: try object(in: outcome.output)).isEmpty)
    #expect(outcome.output == (try project.read(".highwater/result.json")))
    #expect(outcome.errors.contains("no-baseline"))
    let file = try Gate.run("check", "--json", "reports/out.json", in: project)
    #expect(file.output.contains("no-baseline"))
    #expect(try project.read("reports/out.json") == project.read(".highwater/result.json"))
  }

  @Test("`--quiet` says little, and the verdict's name stays the last word")
  func quiet() throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    let quiet = try Gate.run("check", "--quiet", in: project)
    let normal = try Gate.run("check", in: project)
    #expect(quiet.verdict == "pass")
    #expect(quiet.errors.isEmpty)
    #expect(quiet.output.utf8.count <= normal.output.utf8.count)
    try project.hold(12)
    let worse = try Gate.run("check", "--quiet", in: project)
    #expect(worse.code == 1)
    #expect(worse.verdict == "regression")
    #expect(worse.output.contains("load"))
  }

  @Test(
    "Words are coloured when they are asked to be, and only then",
    arguments: [
      ([], [:], false), (["--color", "always"], [:], true), (["--color", "always"], ["NO_COLOR": "1"], true),
      (["--color", "auto"], ["NO_COLOR": ""], false), (["--color", "never"], ["NO_COLOR": ""], false),
    ] as [([String], [String: String], Bool)])
  func colour(options: [String], variables: [String: String], isColoured: Bool) throws {
    let project = try TemporaryProject.holding(1)
    let outcome = try Gate.start(["check"] + options, in: project, variables: variables).wait()
    #expect(outcome.output.contains("\u{1b}[") == isColoured, "\(outcome.output)")
    #expect(!outcome.errors.contains("\u{1b}["))
  }
}
