import FoundationEssentials
import GateCore
import Statistics

/// How often the smallest detectable change in the reports is found: nine of ten times is promised.
enum DetectableChangeTables {
  private static let percent = 1.0
  private static let level = 58.4e6

  static func section() -> [String] {
    var table = MarkdownTable([
      "baseline", "repetitions", "no tolerance: smallest, CVs", "found %", "tolerance 3 %: smallest, %", "found %",
      "as the reports name it (median, %)",
    ])
    for (baseline, count) in [(5, 5), (10, 5), (10, 10), (10, 20), (20, 20)] {
      let none = smallest(baseline, count, .bounds(relative: Percent(0), absolute: nil))
      let written = smallest(baseline, count, Defaults.written)
      table.add([
        "\(baseline)", "\(count)", number(none.smallest / percent, places: 2), number(none.found),
        number(written.smallest, places: 2), number(written.found), number(written.named, places: 2),
      ])
    }
    return [
      "", "## F. The smallest detectable change", "",
      "Normal noise of CV \(text(percent)) %, fixed repetitions. `smallest` is the gate's formula at the true deviation, and "
        + "`found` is how often a rise of that size is a regression: nine of ten is promised. The reports estimate the "
        + "deviation from the values.", "",
    ] + table.lines
  }

  private static func smallest(
    _ baseline: Int,
    _ count: Int,
    _ tolerance: Tolerance
  ) -> (smallest: Double, found: Double, named: Double) {
    let allowed = tolerance.allowed(above: [level], of: .peakRSS)
    let deviation = percent / 100 * level
    let smallest = Detection.smallestShift(deviation: deviation, baseline, count, allowed: allowed)
    let replay = Replay(.fixed(count), tolerance: tolerance)
    // The label is the seed: another label changes the table.
    var chance = Chance(for: "sight, \(baseline), \(count), \(allowed)")
    var (tally, named) = (Tally(), [Double]())
    for _ in 0..<Defaults.trials {
      let (before, now) = Noise.normal(percent).values(baseline, count, level: level, &chance)
      let result = replay.result(before, now.map { $0 + smallest })
      tally.add(result)
      if let detectable = result.metrics.first?.detectable { named.append(100 * detectable / level) }
    }
    return (100 * smallest / level, tally.percent(.regression), Spread.median(named) ?? 0)
  }
}

/// Creep reports on baselines that rise a little with each approval.
enum CreepTables {
  private static let histories = 500
  private static let approvals = 40

  static func section() -> [String] {
    var table = MarkdownTable([
      "CV %", "+0 %: reported", "+0.1 %: reported", "after", "+0.3 %: reported", "after", "+1 %: reported", "after",
    ])
    for percent in [0.2, 0.5, 1, 2, 4] {
      let quiet = warnings(.normal(percent), rise: 0)
      let rows = [0.1, 0.3, 1].flatMap { rise in
        let first = warnings(.normal(percent), rise: rise)
        return ["\(first.count)", Spread.median(first.map(Double.init)).map { number($0, places: 0) } ?? "-"]
      }
      table.add(["\(text(percent))", "\(quiet.count)"] + rows)
    }
    return [
      "", "## H. Creep", "",
      "\(histories) histories of \(approvals) approvals, \(Defaults.baseline) values each, that rise by so much each time: in "
        + "how many histories creep was reported, and after how many approvals (median).", "",
    ] + table.lines
  }

  /// The first approval with creep of each history that has it.
  private static func warnings(_ noise: Noise, rise: Double) -> [Int] {
    var chance = Chance(for: "creep, \(noise.name), \(rise)")
    return (0..<histories).compactMap { _ in
      var previous: Baseline?
      for approval in 0..<approvals {
        let level = 58.4e6 * (1 + rise / 100 * Double(approval))
        let values = noise.values(Defaults.baseline, 0, level: level, &chance).baseline
        var baseline = Replay.baseline([.peakRSS: values])
        // Only a level that was approved is an anchor.
        baseline.approval = Approval(
          at: Date(timeIntervalSince1970: Double(approval) * 86_400), by: "ci", commit: nil, reason: nil,
          run: "\(approval)")
        if let previous { baseline.continueAnchors(of: previous, gate: .standard) }
        if !baseline.creep(under: .standard).isEmpty { return approval }
        previous = baseline
      }
      return nil
    }
  }
}
