import GateCore

@testable import GateApplication

extension Fixture {
  /// A run with every verdict, as a check reports it.
  static var manyVerdicts: (result: RunResult, context: SummaryContext) {
    var run = run
    run.pullRequest = "7"
    run.shard = RunInfo.Shard(index: 2, count: 3)
    let scenarios = [
      passing("tiny"), charted, improved, crashed, failedStep, inconclusive, otherEnvironment, warned,
      scenario("later", .skipped),
    ]
    return (result(scenarios, run: run), context(of: scenarios, .regression))
  }

  /// Names, notes and outputs that would be markup, commands or links.
  static var manyAttacks: (result: RunResult, context: SummaryContext) {
    let text =
      #" \| | `` ``` </code></details><script>alert(1)</script> @octocat #12 !13 $x$ ~bug ::error::x ##[error]y "#
      + "www.evil.example https://evil.example <b onclick=x> &amp; --> ]]> ' \" \u{0} \u{fffe} \u{fffd}"
    var regressed = hostile
    regressed.name = ScenarioName(hostileName + text)
    regressed.notes.append(.comparedWithBuild(build: text))
    regressed.repetitions = charted.repetitions
    var failed = crashed
    failed.name = ScenarioName("--- \(text)")
    failed.failure?.output = "``````\n</code></pre></details>\n<!-- \n@octocat\n| a | b |\n::error::x\n"
    failed.failure?.part?.text = text
    var run = run
    (run.commit, run.branch, run.buildURL) = (text, "-->\n# \(text)", "https://ci.example/<script>)\")")
    let scenarios = [regressed, failed]
    var result = result(scenarios, run: run)
    result.environment.name = "x --> \(text)"
    return (result, context(of: scenarios, .regression))
  }

  private static func context(of scenarios: [ScenarioResult], _ code: ExitCode) -> SummaryContext {
    var context = SummaryContext(exitCode: code, resultPath: ".highwater/result.json")
    context.projectFile = "ci/highwater.yml"
    for (index, scenario) in scenarios.enumerated() {
      context.places[scenario.name] = SourcePlace(file: "ci/high,water: 1%.yml", line: 4 + index, column: 5)
    }
    return context
  }
}
