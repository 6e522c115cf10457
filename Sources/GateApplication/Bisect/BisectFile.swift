import GateCore

/// The answer of a bisection as JSON (`highwater.bisect/1`), for other programs; not read by this one.
enum BisectFile {
  static func encode(_ result: BisectResult, words: FileWords) -> [UInt8] {
    JSON.encode(WithSchema(schema: .bisect, content: BisectDocument(result, words)), .pretty)
  }
}

private struct BisectDocument: Encodable {
  let tool = Tool.fields
  let run: RunInfo
  let exitCode: Int32
  let good: BisectResult.End
  let bad: BisectResult.End
  let build: String?
  let commits: Int
  let builds: Int
  let scenarios: [ScenarioDocument]

  init(_ result: BisectResult, _ words: FileWords) {
    (run, exitCode, good, bad) = (result.run, result.exitCode.rawValue, result.good, result.bad)
    (build, commits, builds) = (result.build, result.commitCount, result.builds)
    scenarios = result.scenarios.map { ScenarioDocument($0, words) }
  }
}

private struct ScenarioDocument: Encodable {
  struct Range: Encodable {
    let good: String
    let bad: String
    let commits: Int
  }

  let name: ScenarioName
  let environment: EnvironmentInfo
  let outcome: BisectionOutcome
  let exitCode: Int32
  /// What was searched: less than the whole range if the history narrowed it.
  let range: Range
  let metric: MetricName?
  let ends: [MetricDocument]
  let steps: [Step]
  let commits: [Commit]

  init(_ scenario: ScenarioBisection, _ words: FileWords) {
    let bisection = scenario.bisection
    (name, environment, outcome) = (scenario.name, scenario.environment, scenario.outcome)
    exitCode = scenario.outcome.exitCode.rawValue
    range = Range(good: scenario.commits[0], bad: scenario.commits[bisection.last], commits: bisection.last)
    metric = bisection.searched?.metric
    ends = bisection.ends.map { MetricDocument(metric: $0, words: words) }
    steps = bisection.steps.map { Step($0, of: scenario) }
    let rises = Dictionary(uniqueKeysWithValues: bisection.rises.map { ($0.index, $0.rise) })
    commits = bisection.answers.sorted { $0.key < $1.key }.map { index, answer in
      Commit(answer, at: index, rise: rises[index], of: scenario, words)
    }
  }
}

private struct Step: Encodable {
  let after: String
  let commits: [CommitInfo]
  let share: Double?
  let baseline: ValueSummary?
  let current: ValueSummary?
  let change: MetricResult.Change?

  init(_ step: RiseStep, of scenario: ScenarioBisection) {
    after = scenario.commits[step.lower]
    commits = (step.lower + 1...step.upper).map(scenario.info)
    share = step.share.map { ($0 * 1000).rounded() / 1000 }
    (baseline, current, change) = (step.change?.baseline, step.change?.current, step.change?.change)
  }
}

/// A commit that was built or tried.
private struct Commit: Encodable {
  enum State: String, Encodable {
    case measured
    case outOfMemory = "out-of-memory"
    case notBuilt = "not-built"
    case failed
  }

  let commit: String
  let number: Int
  let state: State
  let repetitions: Int?
  /// Above the good end, in the unit of the metric.
  let rise: Double?
  let values: [Double]?
  /// Those of the good end, which ran alternately.
  let reference: [Double]?
  let failure: Worded<Failure>?

  init(_ answer: CommitAnswer, at index: Int, rise: Double?, of scenario: ScenarioBisection, _ words: FileWords) {
    (commit, number, self.rise) = (scenario.commits[index], index, rise)
    let metric = scenario.bisection.searched?.metric
    var (measured, failure): (MeasuredCommit?, Failure?)
    switch answer {
    case .measured(let values): (state, measured) = (.measured, values)
    case .outOfMemory(let cause): (state, failure) = (.outOfMemory, cause)
    case .notBuilt(let cause): (state, failure) = (.notBuilt, cause)
    case .failed(let cause): (state, failure) = (.failed, cause)
    }
    repetitions = measured?.repetitions
    values = metric.flatMap { measured?.values[$0] }
    reference = metric.flatMap { measured?.reference[$0] }
    self.failure = failure.map { Worded(value: $0, text: words.failure($0)) }
  }
}
