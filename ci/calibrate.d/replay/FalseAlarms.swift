package import GateCore

/// Verdicts on unchanged programs.
package enum FalseAlarms {
  package static let plans: [(name: String, repetitions: Repetitions)] = [
    ("adaptive", Defaults.repetitions), ("5", .fixed(5)), ("10", .fixed(10)), ("3", .fixed(3)),
  ]

  package static func tally(_ noise: Noise, baseline: Int, _ repetitions: Repetitions) -> Tally {
    Experiment(noise, baseline: baseline, Replay(repetitions)).tally()
  }

  /// One row of a table of ``plans``.
  package static func row(_ noise: Noise, baseline: Int, _ tally: Tally) -> [String] {
    [noise.name, "\(baseline)"] + cells(tally)
  }

  private static func cells(_ tally: Tally) -> [String] {
    [
      number(tally.percent(.regression), places: 2), number(tally.percent(.improved), places: 2),
      number(tally.percent(.pass)), number(tally.percent(.inconclusive)), number(tally.meanRuns),
    ]
  }

  private static let columns = ["regression %", "improved %", "pass %", "inconclusive %", "mean runs"]

  static func section() -> [String] {
    var lines = [
      "## A. False alarms: equal against equal", "",
      "Each row is \(Defaults.trials) comparisons of one metric at `[3%, 512KiB]`, at 58.4 MB, where 3 % counts "
        + "and not 512 KiB. The standard error of a share of 1 % is 0.22 %. Three repetitions "
        + "are too few for statistics except against 10 values and more.",
    ]
    for plan in plans {
      var table = MarkdownTable(["noise", "baseline"] + columns)
      var (worst, all) = (0.0, Tally())
      for noise in Noise.all {
        for baseline in [5, 10, 20] {
          let tally = tally(noise, baseline: baseline, plan.repetitions)
          worst = max(worst, tally.percent(.regression))
          all = all + tally
          table.add(row(noise, baseline: baseline, tally))
        }
      }
      lines += ["", "### Repetitions: \(plan.name)", ""] + table.lines
      lines += [
        "",
        "False alarms of all rows: \(number(all.percent(.regression), places: 2)) %, of the worst row: "
          + "\(number(worst, places: 2)) %.",
      ]
    }
    return lines + levels() + scenarios()
  }

  /// The same noise in a small tool, where the absolute tolerance counts, and in a large server.
  private static func levels() -> [String] {
    var lines = [
      "", "### A tool of 2 MB and a server of 2 GB", "", "Adaptive repetitions, baseline of \(Defaults.baseline).",
    ]
    var table = MarkdownTable(["noise", "level"] + columns)
    for noise in Noise.all {
      for (name, level) in [("2 MB", 2e6), ("2 GB", 2e9)] {
        table.add([noise.name, name] + cells(Experiment(noise, level: level).tally()))
      }
    }
    lines += [""] + table.lines
    return lines
  }

  /// Scenarios of two metrics with independent noise.
  private static func scenarios() -> [String] {
    var table = MarkdownTable(["noise of both", "baseline"] + columns)
    for noise in Noise.all {
      var chance = Chance(for: "two metrics, \(noise.name)")
      var tally = Tally()
      let replay = Replay(gate: .standard, repetitions: Defaults.repetitions)
      for _ in 0..<Defaults.trials {
        let peak = noise.values(Defaults.baseline, Defaults.most, level: 70e6, &chance)
        let steady = noise.values(Defaults.baseline, Defaults.most, level: 58.4e6, &chance)
        let current = zip(peak.current, steady.current).map { Replay.repetition([.peakRSS: $0, .steadyRSS: $1]) }
        tally.add(replay.result([.peakRSS: peak.baseline, .steadyRSS: steady.baseline], current))
      }
      table.add([noise.name, "\(Defaults.baseline)"] + cells(tally))
    }
    return [
      "", "### Whole scenarios", "",
      "`peak_rss` and `steady_rss` with independent noise, adaptive repetitions: the promise is about one metric, and "
        + "two have twice the chance.", "",
    ] + table.lines
  }
}
