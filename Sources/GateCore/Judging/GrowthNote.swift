import Statistics

extension ScenarioResult {
  /// The growth per iteration that the gate would not notice, if it is more than one would expect; nil if it is not, or if
  /// no rule compares growth per iteration.
  ///
  /// Without a baseline it is that of a check against these values.
  package var hiddenGrowth: HiddenGrowth? { judgedHiddenGrowth ?? unjudgedHiddenGrowth }

  /// With too few iterations for growth, the default gate sees a leak only in what all iterations together leave.
  private var unjudgedHiddenGrowth: HiddenGrowth? {
    let counts = repetitions.compactMap { ($0.curve?.iterations).map(Double.init) }
    guard gate.isStandard, failure == nil, !summary.growthIsPerIteration, let count = Spread.median(counts), count > 1,
      !summary.metrics.contains(where: { $0.verdict == .regression })
    else { return nil }
    let seen = MetricName.headlines.compactMap(detectableRise).min()
    return seen.map { HiddenGrowth(.notJudged, upTo: $0 / count, iterations: Int(count)) }
  }

  /// The rise of a metric that this check would have found, or without a baseline, a check against these values.
  private func detectableRise(of metric: MetricName) -> Double? {
    guard let judged = summary.metrics.first(where: { $0.metric == metric }) else { return nil }
    if let detectable = judged.detectable { return detectable }
    let values = repetitions.compactMap { $0.metrics[metric] }
    return detectable(values, allowed: Tolerance.automatic.allowed(above: values, of: metric))
  }

  private var judgedHiddenGrowth: HiddenGrowth? {
    let rule = gate.rules.first { $0.metric == .growth && $0.severity == .fail && $0.limit == nil }
    let growths = repetitions.compactMap(\.growth)
    guard summary.growthIsPerIteration, failure == nil, let tolerance = rule?.tolerance, !growths.isEmpty,
      let iterations = Spread.median(growths.compactMap(\.iterations).map(Double.init))
    else { return nil }
    let judged = summary.metrics.first { $0.metric == .growth }
    if judged?.verdict == .regression { return nil }
    let slopes = growths.map(\.slope)
    let allowed = judged?.allowed ?? tolerance.allowed(above: slopes, of: .growth)
    let seen = judged?.detectable ?? detectable(slopes, allowed: allowed)
    let (kept, garbage) = (HiddenGrowth.least(in: Int(iterations)) * Double(workerCount), garbage / iterations)
    let least = max(kept, garbage)
    let upTo = max(seen, least)
    guard upTo > HiddenGrowth.expected else { return nil }
    let isSettling = growths.count { $0.kind == .settling } * 2 > growths.count
    let level = judged?.baseline?.median ?? Spread.median(slopes) ?? 0
    let cause: HiddenGrowth.Cause =
      if isSettling {
        .warmup
      } else if Tolerance.Bounds.growth.share * abs(level) >= 0.5 * upTo {
        .level
      } else if garbage > HiddenGrowth.expected, garbage == upTo {
        .garbage
      } else {
        least > HiddenGrowth.expected ? .fewIterations : .noise
      }
    return HiddenGrowth(cause, upTo: upTo, iterations: Int(iterations))
  }

  /// What a collected heap can hold in place of garbage, in bytes: half of what memory rose by under the load, as of a heap
  /// that doubles between two collections (`GOGC`, runtime package of Go); 0 for other programs.
  ///
  /// Of a Go service whose memory rises by 4.5 MiB in 1,000 requests, leaks of 0.5 KiB per request did not show in 4 of 5
  /// checks; of a Java service with 5,000 that rises by 100 MiB, leaks of 2 KiB in one of 3 (2026-11).
  private var garbage: Double {
    guard summary.composition?.runtime != nil else { return 0 }
    return max(0, Spread.median(repetitions.compactMap { $0.growth?.rise }) ?? 0) / 2
  }

  /// The processes that keep freed memory as the main one does, which is one of them: those that run beside it, with its
  /// name and at least half of its memory; the median of all repetitions.
  private var workerCount: Int {
    let counts = repetitions.compactMap { repetition -> Double? in
      let processes = repetition.largestProcesses
      return processes.first(where: \.isMain).map { main in Double(processes.count { $0.isWorker(like: main) }) }
    }
    return Int(Spread.median(counts) ?? 1)
  }

  private func detectable(_ values: [Double], allowed: Double) -> Double {
    Detection.smallestShift(
      deviation: Spread.noise(values), values.count, plan?.min ?? values.count, allowed: allowed, hasStatistics: true)
  }

  /// Growth in most repetitions that no rule covers: levels and peaks may stay within their tolerances for long.
  package var noteOnUngatedGrowth: Note? {
    let growing = repetitions.compactMap(\.growth).filter { $0.kind == .continuous }
    let middle = growing.sorted { $0.slope < $1.slope }.dropFirst(growing.count / 2).first
    guard let middle, growing.count * 2 > repetitions.count, failure == nil, !isGrowthCovered else { return nil }
    return .ungatedGrowth(
      growth: middle, count: growing.count, total: repetitions.count, limit: .size(Self.limit(for: middle)))
  }

  /// The default gate covers growth only per iteration.
  private var isGrowthCovered: Bool {
    (!gate.isStandard || summary.growthIsPerIteration) && gate.rules.contains { $0.metric == .growth }
  }

  /// The gate with a rule that limits growth.
  ///
  /// A gate in the project file replaces the default gate, so the rules that were applied are included.
  package func gate(limitingGrowthTo limit: Amount) -> Gate {
    let rules = gate.rules.filter { rule in
      rule.metric != .growth && (!gate.isStandard || summary.metrics.contains { $0.metric == rule.metric })
    }
    return Gate(rules: rules + [GateRule(metric: .growth, tolerance: nil, limit: limit)])
  }

  /// Half the growth, rounded down to a power of two: an initial limit.
  private static func limit(for growth: Growth) -> Bytes {
    let half = UInt64(Bytes(clampedFrom: max(1, growth.slope / 2)).count)
    return Bytes(1 << (UInt64.bitWidth - 1 - half.leadingZeroBitCount))
  }
}

extension ProcessRecord {
  fileprivate func isWorker(like main: ProcessRecord) -> Bool {
    let together = min(lastSeen, main.lastSeen) - max(firstSeen, main.firstSeen)
    return command == main.command && id != main.parent && peak.count * 2 >= main.peak.count
      && together * 2 >= main.lastSeen - main.firstSeen
  }
}
