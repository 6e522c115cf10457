import GateCore

/// Results of targets that report their own values, loops and launches.
extension Fixture {
  /// A judged reported value; the uncertainty of its change is a tenth of the allowed change.
  static func value(
    _ name: String,
    _ verdict: Verdict = .pass,
    from baseline: Double? = nil,
    to current: Double?,
    in unit: String,
    allowed: Double = 0,
    tolerance: Tolerance? = .standard(of: .value("x")),
    limit: Amount? = nil,
    reason: VerdictReason? = nil
  ) -> MetricResult {
    var result = metric(
      .value(name), verdict, from: baseline, to: current, limit: limit, tolerance: tolerance, unit: unit,
      reason: reason)
    guard let difference = result.change?.absolute else { return result }
    result.change?.low = difference - allowed / 10
    result.change?.high = difference + allowed / 10
    if tolerance != nil { result.allowed = allowed }
    if baseline.map({ $0 <= 0 }) ?? true { result.change?.percent = nil }
    (result.detectable, result.resolution) = (allowed / 10, allowed / 10)
    return result
  }

  static let events = [
    TargetEvent(.launch(reason: "out-of-memory.active.cgroup-counter"), at: .zero),
    TargetEvent(.launchFailures(count: 3), at: .zero),
  ]

  static let loop = TargetEvent(.loop(name: "Layout.pass", calls: 6000, turns: 3), at: .milliseconds(12))

  /// A rise in entries, a size and a ratio above their limits, an unchanged wait, and a drop below zero.
  static var reporting: ScenarioResult {
    var scenario = scenario(
      "cache", .regression,
      metrics: [
        metric(.peakRSS, from: 23_068_672, to: 23_068_672),
        value(
          "cache.entries", .regression, from: 1000, to: 1250, in: "items", allowed: 30,
          tolerance: .bounds(relative: Percent(3), absolute: .number(10))),
        value("cache.size", .regression, to: 83_886_080, in: "bytes", tolerance: nil, limit: .mebibytes(64)),
        value("hit-share", .regression, to: 0.625, in: "hits/call", tolerance: nil, limit: .number(0.5)),
        value(
          "queue.wait", from: 0.0125, to: 0.0126, in: "seconds", allowed: 0.002,
          tolerance: .bounds(relative: nil, absolute: .time(.milliseconds(2)))),
        value("balance", .improved, from: -2, to: -3.5, in: "EUR", allowed: 0.06),
      ],
      repetitions: repetitions(peak: 23_068_672)
    )
    for index in scenario.repetitions.indices {
      let more = Double(index - 2)
      scenario.repetitions[index].metrics.merge([
        .value("cache.entries"): 1250 + more, .value("cache.size"): 83_886_080, .value("hit-share"): 0.625,
        .value("queue.wait"): 0.0126 + more / 1e5, .value("balance"): -3.5, .value("warm"): 0.000_02,
      ]) { $1 }
      scenario.repetitions[index].units = [
        .value("cache.entries"): "items", .value("cache.size"): "bytes", .value("hit-share"): "hits/call",
        .value("queue.wait"): "seconds", .value("balance"): "EUR", .value("warm"): "seconds",
      ]
    }
    scenario.repetitions[1].events = events
    return scenario
  }

  /// The result of a target that was stuck in a loop, grew and was killed.
  static var looping: ScenarioResult {
    var scenario = scenario(
      "layout", .failed,
      repetitions: repetitions(
        peak: 80_000_000, count: 1, end: End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: nil))),
      failure: Failure(
        attempt: .init(number: 1, of: 10), problem: .loop(event: loop, other: nil),
        place: SourcePlace(file: "highwater.yml", line: 4, column: 5),
        output: "laying out\n"))
    scenario.repetitions[0].events = events + [loop]
    return scenario
  }

  /// The target reports another unit than the approved one.
  static var changedUnit: ScenarioResult {
    var scenario = scenario(
      "unit", .inconclusive,
      metrics: [
        metric(.peakRSS, from: 23_068_672, to: 23_068_672),
        value(
          "cache.entries", .inconclusive, to: nil, in: "items",
          reason: .otherUnit(baseline: "bytes", current: "items")),
      ],
      repetitions: repetitions(peak: 23_068_672))
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].metrics[.value("cache.entries")] = 1250
      scenario.repetitions[index].units = [.value("cache.entries"): "items"]
    }
    return scenario
  }

  /// Hostile names and units: the marker reader rejects them, but a result file may contain them.
  static func hostileReport(_ text: String) -> ScenarioResult {
    var scenario = reporting
    for index in scenario.metrics.indices where scenario.metrics[index].rule.metric.isValue {
      scenario.metrics[index].rule.metric = .value(text + "\(index)")
      scenario.metrics[index].unit = text
    }
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].metrics = [.value(text): 1, .peakRSS: 4096]
      scenario.repetitions[index].units = [.value(text): text]
      scenario.repetitions[index].events = [
        TargetEvent(.loop(name: text, calls: 1, turns: 1), at: .zero), TargetEvent(.launch(reason: text), at: .zero),
      ]
    }
    return scenario
  }
}
