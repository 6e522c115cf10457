import FoundationEssentials
import GateCore

/// The body of `format: json`, schema `highwater.notification/1`.
struct NotificationJSON: Encodable {
  struct Run: Encodable {
    var id: String
    var startedAt: String
    var durationSeconds: Double
    var commit: String?
    var branch: String?
    var buildURL: String?
  }

  struct Scenario: Encodable {
    var name: String
    var verdict: String
    var state: String
    var metrics: [Metric]
    /// Of a scenario that could not be judged: how its last repetition ended, as in the result file.
    var end: End?
    /// What went wrong then, in words.
    var failure: String?
  }

  struct End: Encodable {
    var kind: String
    var code: Int?
    var signal: String?
    var proof: String?
    var detail: String?
  }

  struct Metric: Encodable {
    struct Summary: Encodable {
      var median: Number
      var count: Int
    }

    struct Change: Encodable {
      var absolute: Number
      var percent: Double?
      var low: Number
      var high: Number
    }

    var name: String
    var unit: String
    var verdict: String
    var baseline: Summary?
    var current: Summary?
    var change: Change?
    var tolerance: Tolerance
  }

  /// Each key is always there; `null` where the rule does not set it.
  struct Tolerance: Encodable {
    var percent: Double?
    var absolute: Number?
    var limit: Number?

    private enum CodingKeys: CodingKey {
      case percent, absolute, limit
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(percent, forKey: .percent)
      try container.encode(absolute, forKey: .absolute)
      try container.encode(limit, forKey: .limit)
    }
  }

  struct Links: Encodable {
    var build: String?
    var report: String?
  }

  /// A figure in a metric's unit: whole for bytes, with its fraction for rates.
  struct Number: Encodable {
    var value: Double
    var isWhole: Bool

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      if isWhole, let whole = Int64(exactly: value.rounded()) {
        try container.encode(whole)
      } else {
        try container.encode(value)
      }
    }
  }

  var schema = "highwater.notification/1"
  var verdict: String
  var exitCode: Int32
  var run: Run
  var environment: String
  var summary: String
  var scenarios: [Scenario]
  var links: Links
}

extension NotificationJSON {
  init(
    _ result: RunResult,
    state: (ScenarioResult) -> ScenarioState,
    links: (build: String?, report: String?),
    exitCode: ExitCode
  ) {
    verdict = result.verdict.rawValue
    self.exitCode = exitCode.rawValue
    run = Run(result.run)
    environment = result.environment.name
    summary = summaryLine(result)
    scenarios = result.scenarios.map { scenario in
      Scenario(
        name: scenario.name.text,
        verdict: scenario.verdict.rawValue,
        state: state(scenario).rawValue,
        metrics: scenario.metrics.filter { $0.verdict != .pass }.map(Metric.init),
        end: scenario.failure == nil ? nil : scenario.repetitions.last.map { End($0.end) },
        failure: scenario.failure?.displayText
      )
    }
    self.links = Links(build: links.build, report: links.report)
  }
}

extension NotificationJSON.End {
  init(_ end: GateCore.End) {
    self.init(
      kind: end.kind.rawValue, code: end.code, signal: end.signal?.name, proof: end.proofText, detail: end.detailText
    )
  }
}

extension NotificationJSON.Run {
  init(_ run: RunInfo) {
    // The format cuts what is below a millisecond, and a `Date` holds .678 as .67799…: a quarter more is safe.
    let milliseconds = (run.startedAt.timeIntervalSince1970 * 1000).rounded() + 0.25
    let startedAt = Date(timeIntervalSince1970: milliseconds / 1000)
    self.init(
      id: run.id,
      startedAt: Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(startedAt),
      durationSeconds: run.duration.inSeconds,
      commit: run.commit,
      branch: run.branch,
      buildURL: run.buildURL
    )
  }
}

extension NotificationJSON.Metric {
  init(_ metric: MetricResult) {
    let isWhole = metric.rule.metric.isWholeBytes
    func number(_ value: Double) -> NotificationJSON.Number { .init(value: value, isWhole: isWhole) }
    func summary(_ summary: MetricResult.Summary) -> Summary {
      Summary(median: number(summary.median), count: summary.count)
    }
    name = metric.rule.metric.text
    unit = metric.unit
    verdict = metric.verdict.rawValue
    baseline = metric.baseline.map(summary)
    current = metric.current.map(summary)
    change = metric.change.map { change in
      Change(
        absolute: number(change.absolute), percent: change.percent, low: number(change.low), high: number(change.high)
      )
    }
    tolerance = NotificationJSON.Tolerance(metric)
  }
}

extension NotificationJSON.Tolerance {
  /// The rule's own bounds; an automatic tolerance is told by what it came to.
  init(_ metric: MetricResult) {
    let isWhole = metric.rule.metric.isWholeBytes
    switch metric.rule.tolerance {
    case .bounds(let relative, let amount):
      percent = relative?.value
      absolute = amount.map { .init(value: $0.value, isWhole: isWhole) }
    case .automatic:
      absolute = metric.allowed.map { .init(value: $0, isWhole: isWhole) }
    case nil:
      break
    }
    limit = metric.rule.limit.map { .init(value: $0.value, isWhole: isWhole) }
  }
}
