import FoundationEssentials
import GateCore

/// The body of `format: json`, schema `highwater.notification/1`.
struct NotificationJSON: Encodable {
  struct Run: Encodable {
    var id: String
    var startedAt: String
    var durationSeconds: Double
    var commit: String?
    /// Missing where it is false.
    var dirty: Bool?
    var branch: String?
    var buildURL: String?
    var pullRequest: String?
    var shard: RunInfo.Shard?
  }

  struct Scenario: Encodable {
    var name: String
    var verdict: String
    var state: String
    var metrics: [Metric]
    /// The end of the last repetition of a scenario that could not be judged, as in the result file.
    var end: End?
    /// Why the scenario could not be judged.
    var failure: String?
    /// Which function explains the rise, or why none is named.
    var explanation: String?
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
    /// Of a metric without a value.
    var reason: String?
    var tolerance: Tolerance
  }

  struct Tolerance: Encodable {
    var percent: NullIfNil<Double>
    var absolute: NullIfNil<Number>
    var limit: NullIfNil<Number>
  }

  struct Links: Encodable {
    var build: String?
    var report: String?
  }

  /// A value in a metric's unit: a whole number for bytes, with a fraction for rates.
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
  /// The events of the history that this run has shown, as in a trend's JSON.
  var events: [EventDocument]
  var links: Links
}

extension NotificationJSON {
  init(
    _ result: RunResult,
    state: (ScenarioResult) -> ScenarioState,
    news: [TrendEvent],
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
        failure: scenario.failure?.displayText,
        explanation: scenario.explanation.map(ResultText.explanation)
      )
    }
    events = news.map(EventDocument.init)
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
    // The format truncates to milliseconds, and a `Date` stores .678 as .67799…: adding a quarter is safe.
    let milliseconds = (run.startedAt.timeIntervalSince1970 * 1000).rounded() + 0.25
    let startedAt = Date(timeIntervalSince1970: milliseconds / 1000)
    self.init(
      id: run.id,
      startedAt: Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(startedAt),
      durationSeconds: run.duration.inSeconds,
      commit: run.commit,
      dirty: run.isDirty ? true : nil,
      branch: run.branch,
      buildURL: run.buildURL,
      pullRequest: run.pullRequest,
      shard: run.shard
    )
  }
}

extension NotificationJSON.Metric {
  init(_ metric: MetricResult) {
    let isWhole = metric.metric.isWholeBytes
    func number(_ value: Double) -> NotificationJSON.Number { .init(value: value, isWhole: isWhole) }
    func summary(_ summary: ValueSummary) -> Summary { Summary(median: number(summary.median), count: summary.count) }
    name = metric.metric.text
    unit = metric.unit
    verdict = metric.verdict.rawValue
    baseline = metric.baseline.map(summary)
    current = metric.current.map(summary)
    change = metric.change.map { change in
      Change(
        absolute: number(change.absolute), percent: change.percent, low: number(change.low), high: number(change.high)
      )
    }
    reason = metric.current == nil ? ResultText.reason(of: metric) : nil
    // For an automatic tolerance, the amount that it allowed.
    let (percent, absolute) =
      switch metric.rule.tolerance {
      case .bounds(let relative, let amount): (relative?.value, amount?.value)
      case .automatic: (nil, metric.allowed)
      case nil: (nil, nil)
      }
    tolerance = NotificationJSON.Tolerance(
      percent: NullIfNil(percent), absolute: NullIfNil(absolute.map(number)),
      limit: NullIfNil(metric.rule.limit.map { number($0.value) }))
  }
}
