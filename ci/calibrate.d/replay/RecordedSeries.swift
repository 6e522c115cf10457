import FoundationEssentials
package import GateCore

/// The measurements of many repetitions of one real program.
package struct RecordedSeries: Decodable {
  package let program: String
  package let version: String
  package let kernel: String
  package let cpus: Int
  package let environment: String
  package let startedAt: String
  private let metrics: [String: [Double?]]

  /// One for each repetition, in order of measurement.
  package var repetitions: [RepetitionResult] {
    let count = metrics.values.map(\.count).max() ?? 0
    return (0..<count).map { index in
      let known = metrics.compactMap { name, values in
        values.indices.contains(index) ? values[index].map { (MetricName(name), $0) } : nil
      }
      return Replay.repetition(Dictionary(uniqueKeysWithValues: known))
    }
  }

  /// All series in a folder, by program name.
  package static func all(in folder: String) throws -> [RecordedSeries] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted().map { name in
      let data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
      return try JSONDecoder().decode(RecordedSeries.self, from: data)
    }
  }
}

/// Self-comparisons of real programs from their recordings.
package enum RecordedTables {
  /// Consecutive windows: a baseline and the values directly after it, at each index of the series.
  package static func tally(of series: RecordedSeries, risen percent: Double = 0) -> Tally {
    let repetitions = series.repetitions
    let (replay, baseline) = (Replay(gate: .standard, repetitions: Defaults.repetitions), Defaults.baseline)
    var tally = Tally()
    for start in 0...max(0, repetitions.count - baseline - Defaults.most) {
      let before = repetitions[start..<start + baseline]
      let metrics = Dictionary(grouping: before.flatMap { $0.metrics.map { $0 } }, by: \.key)
        .mapValues { $0.map(\.value) }
      let now = repetitions[(start + baseline)...].prefix(Defaults.most).map { repetition in
        var risen = repetition
        risen.metrics = repetition.metrics.mapValues { $0 * (1 + percent / 100) }
        return risen
      }
      tally.add(replay.result(metrics, now))
    }
    return tally
  }

  static func section(_ all: [RecordedSeries]) -> [String] {
    guard let first = all.first else { return [] }
    var table = MarkdownTable([
      "program", "version", "MiB", "CV %", "range %", "allowed %", "steady of 60", "regression", "improved", "pass",
      "inconclusive", "mean runs", "+5 %: found", "undecided", "+10 %: found", "undecided",
    ])
    var sum = Tally()
    for series in all {
      let tally = tally(of: series)
      sum = sum + tally
      let counts = [Verdict.regression, .improved, .pass, .inconclusive].map { "\(tally.count(of: $0))" }
      let risen = [5.0, 10].flatMap { percent in
        let tally = Self.tally(of: series, risen: percent)
        return [tally.percent(.regression), tally.percent(.inconclusive)].map { number($0, places: 0) }
      }
      table.add([series.program, series.version] + shape(series) + counts + [number(tally.meanRuns)] + risen)
    }
    return [
      "", "## G. Real programs, recorded", "",
      "\(all.count) programs, 60 repetitions of each (Linux \(first.kernel), \(first.cpus) CPUs, \(first.environment), "
        + "\(first.startedAt)): level, coefficient of variation, range and tolerance of `peak_rss`, and how many repetitions had a "
        + "steady state. Then the whole standard gate over each stretch of \(Defaults.baseline) values as the baseline and "
        + "those right after it as the check. Stretches of one series overlap: \(sum.count) comparisons in all, "
        + "\(sum.count(of: .regression)) regressions (\(number(sum.percent(.regression), places: 2)) %), "
        + "\(sum.count(of: .inconclusive)) inconclusive (\(number(sum.percent(.inconclusive), places: 2)) %), "
        + "\(number(sum.meanRuns)) repetitions in the mean. At the end: shares in % with all later values raised.", "",
    ] + table.lines
  }

  private static func shape(_ series: RecordedSeries) -> [String] {
    let repetitions = series.repetitions
    let peaks = repetitions.compactMap { $0.metrics[.peakRSS] }
    let mean = peaks.reduce(0, +) / Double(max(1, peaks.count))
    let variance = peaks.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(max(1, peaks.count - 1))
    let allowed = Tolerance.automatic.allowed(above: peaks, of: .peakRSS)
    let range = (peaks.max() ?? 0) - (peaks.min() ?? 0)
    return [
      number(mean / 1_048_576), number(100 * variance.squareRoot() / mean, places: 2),
      number(100 * range / mean, places: 2), number(100 * allowed / mean),
      "\(repetitions.count { $0.metrics[.steadyRSS] != nil })",
    ]
  }
}
