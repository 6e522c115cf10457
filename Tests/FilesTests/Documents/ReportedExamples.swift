import GateCore

/// Documents of a target that reports its own values, loops and launches.
enum ReportedExamples {
  static let entries = MetricName.value("cache.entries")
  static let wait = MetricName.value("queue.wait")
  static let balance = MetricName.value("balance")
  static let heap = MetricName.value("heap")

  static let units = [entries: "items", wait: "seconds", balance: "EUR/day", heap: "bytes"]

  static let events = [
    TargetEvent(.launch(reason: "out-of-memory.active.cgroup-counter"), at: .zero),
    TargetEvent(.launchFailures(count: 3), at: .nanoseconds(1_234_567)),
    TargetEvent(.loop(name: "Layout.pass", calls: 6000, turns: 3), at: .milliseconds(12)),
  ]

  /// Rules with amounts of each kind, and without amounts.
  static let rules = [
    GateRule(
      metric: entries, tolerance: .bounds(relative: Percent(3), absolute: .number(10)), limit: .number(1000)),
    GateRule(
      metric: wait, tolerance: .bounds(relative: nil, absolute: .time(.microseconds(1500))),
      limit: .time(.seconds(90)), severity: .warn),
    GateRule(metric: heap, tolerance: .bounds(relative: nil, absolute: .kibibytes(512)), limit: .mebibytes(64)),
    GateRule(metric: balance, tolerance: .automatic, limit: .number(0.125), severity: .off),
    GateRule(metric: .value("share"), tolerance: .bounds(relative: Percent(3), absolute: nil)),
  ]

  static let result: RunResult = {
    var result = DocumentExamples.result
    result.scenarios = [scenario]
    return result
  }()

  private static let scenario: ScenarioResult = {
    var repetitions = [1234.0, 1250].map { count in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .seconds(1), processes: 1,
        metrics: [.peakRSS: 4096, entries: count, wait: 0.012_345_678_9, balance: -0.1, heap: 1_048_576.5])
    }
    for index in repetitions.indices { repetitions[index].units = units }
    repetitions[0].events = events
    // This repetition reported a single value.
    repetitions[1].metrics = [.peakRSS: 4096, entries: 1250]
    repetitions[1].units = [entries: "items"]
    var scenario = ScenarioResult(
      name: ScenarioName("reporting"), verdict: .regression, environment: DocumentExamples.environment,
      gate: Gate(rules: rules), repetitions: repetitions,
      metrics: [
        MetricResult(
          rule: rules[0], unit: "items", verdict: .regression, baseline: .init(median: 1000.5, count: 5),
          current: .init(median: 1242, count: 2),
          change: .init(absolute: 241.5, percent: 24.14, low: 233.25, high: 249.75, shift: 241.5), allowed: 30.015,
          detectable: 12.5, resolution: 0.25, method: .ranks, chance: 0.0952),
        MetricResult(
          rule: rules[1], unit: "seconds", verdict: .pass, current: .init(median: 0.012_345_678_9, count: 1)),
        MetricResult(rule: rules[3], unit: "EUR/day", verdict: .pass, current: .init(median: -0.1, count: 1)),
      ])
    scenario.summarize()
    return scenario
  }()

  static let baseline: Baseline = {
    var baseline = DocumentExamples.baseline
    baseline.metrics.merge([entries: [1000, 1000.5, 1001], wait: [0.0125], balance: [-2.5, -2.25]]) { $1 }
    baseline.units = units.filter { baseline.metrics[$0.key] != nil }
    baseline.anchors[entries] = .init(level: 900.25, at: DocumentExamples.instant, commit: "4f2a91c")
    baseline.anchors[balance] = .init(level: -3.75, at: DocumentExamples.instant, commit: nil)
    return baseline
  }()
}
