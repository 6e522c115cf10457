import GateCore

/// How often a real rise is found, and the false alarms that this costs.
enum DetectionTables {
  private static let noises = [0.2, 0.8, 2, 4].map { (percent: $0, noise: Noise.normal($0)) }
  private static let shifts = [0.0, 1, 2, 5, 10]
  private static let counts = [5, 10, 20]
  /// Gates that compare with the last run usually run once.
  private static let runCounts = [1, 5, 10, 20]

  static func section() -> [String] {
    [
      "", "## B. Detection: a true rise", "",
      "Alarms in % of \(Defaults.trials) comparisons with a baseline of \(Defaults.baseline) values, normal noise. The rows "
        + "of +0 % are false alarms. The tolerance is `[3%, 512KiB]`: a rise below 3 % is to be let through, and one of "
        + "5 % is 2 % above what is let through. Peers: the median rose by more than 5 %; Welch's t at .05 says that the "
        + "mean is higher; the mean is more than 5 % above that of the last run, which had as many repetitions.", "",
    ] + besidePeers() + tolerances() + adaptive()
  }

  private static func besidePeers() -> [String] {
    var table = MarkdownTable(
      ["CV %", "rise %"] + counts.map { "gate, \($0)" } + ["gate, adaptive"]
        + ["5 %", "Welch"].flatMap { peer in counts.map { "\(peer), \($0)" } }
        + runCounts.map { "last run, \($0)" }
    )
    for (percent, noise) in noises {
      for shift in shifts {
        let factor = 1 + shift / 100
        let own = (counts.map(Repetitions.fixed) + [Defaults.repetitions]).map { repetitions in
          Experiment(noise, Replay(repetitions), factor: factor).tally().percent(.regression)
        }
        table.add(["\(text(percent))", "+\(text(shift))"] + (own + peers(noise, factor)).map { number($0) })
      }
    }
    return table.lines
  }

  /// The alarms of each other tool's rule at each count, in percent.
  private static func peers(_ noise: Noise, _ factor: Double) -> [Double] {
    var alarms = [Int](repeating: 0, count: 2 * counts.count + runCounts.count)
    var chance = Chance(for: "peers, \(noise.name)")
    for _ in 0..<Defaults.trials {
      let (before, now) = noise.values(Defaults.most, Defaults.most, level: 58.4e6, factor: factor, &chance)
      let approved = Array(before.prefix(Defaults.baseline))
      let rises =
        counts.map { Peers.threshold(approved, Array(now.prefix($0))) }
        + counts.map { Peers.welch(approved, Array(now.prefix($0))) }
        + runCounts.map { Peers.lastRun(Array(before.prefix($0)), Array(now.prefix($0))) }
      for (index, isRise) in rises.enumerated() where isRise { alarms[index] += 1 }
    }
    return alarms.map { 100 * Double($0) / Double(Defaults.trials) }
  }

  /// The detections of a stricter tolerance, and its false alarms.
  private static func tolerances() -> [String] {
    let rules: [(name: String, tolerance: Tolerance)] = [
      ("1 %", .bounds(relative: Percent(1), absolute: nil)), ("auto", .automatic),
    ]
    var table = MarkdownTable(
      ["CV %", "rise %"]
        + rules.flatMap { rule in
          (counts.map { "\($0)" } + ["adaptive", "undecided", "mean runs"]).map { "\(rule.name): \($0)" }
        }
    )
    for (percent, noise) in noises {
      for shift in shifts {
        var row = ["\(text(percent))", "+\(text(shift))"]
        for rule in rules {
          let tallies = (counts.map(Repetitions.fixed) + [Defaults.repetitions]).map { repetitions in
            Experiment(noise, Replay(repetitions, tolerance: rule.tolerance), factor: 1 + shift / 100).tally()
          }
          row += tallies.map { number($0.percent(.regression)) }
          row += tallies.suffix(1).flatMap { [number($0.percent(.inconclusive)), number($0.meanRuns)] }
        }
        table.add(row)
      }
    }
    return [
      "", "### At a tolerance of 1 %, and at `auto`", "",
      "Alarms in %, and the inconclusive and mean repetitions of the adaptive plan.", "",
    ] + table.lines
  }

  /// Adaptive repetitions compared with a fixed number of ten.
  private static func adaptive() -> [String] {
    let kinds = [("fixed 10", Repetitions.fixed(10)), ("adaptive", Defaults.repetitions)]
    var table = MarkdownTable(
      ["noise", "rise %"]
        + kinds.flatMap { kind in ["alarms %", "inconclusive %", "mean runs"].map { "\(kind.0): \($0)" } }
    )
    let shapes = noises.map(\.noise) + [.bimodal(0.5), .bimodal(0.2), .heavyTailed, .outliers, .wandering]
    for noise in shapes {
      for shift in [0.0, 5, 10] {
        var row = [noise.name, "+\(text(shift))"]
        for kind in kinds {
          let tally = Experiment(noise, Replay(kind.1), factor: 1 + shift / 100).tally()
          row += [
            number(tally.percent(.regression), places: 2), number(tally.percent(.inconclusive)), number(tally.meanRuns),
          ]
        }
        table.add(row)
      }
    }
    return [
      "", "## C. Adaptive repetitions beside fixed 10", "",
      "Baseline of \(Defaults.baseline), at `[3%, 512KiB]`. Where there are two levels, 13.7 % apart, or outliers of 20 %, "
        + "a rise of 10 % puts the lower level next to the old upper one: then it may stay undecided.", "",
    ] + table.lines
  }
}
