import GateCore
import Statistics

/// Results of `tolerance: auto` for each kind of noise.
enum AutomaticTables {
  static func section() -> [String] {
    var table = MarkdownTable([
      "noise", "baseline", "tolerance %", "regression %", "improved %", "inconclusive %", "mean runs", "+3 % found",
      "+5 % found", "+10 % found",
    ])
    for noise in Noise.all {
      for baseline in [Defaults.baseline, Defaults.most] {
        let replay = Replay(tolerance: .automatic)
        let tally = Experiment(noise, baseline: baseline, replay).tally()
        let found = [1.03, 1.05, 1.1].map { factor in
          number(Experiment(noise, baseline: baseline, replay, factor: factor).tally().percent(.regression))
        }
        table.add(
          [
            noise.name, "\(baseline)", number(tolerance(noise, baseline), places: 2),
            number(tally.percent(.regression), places: 2), number(tally.percent(.improved), places: 2),
            number(tally.percent(.inconclusive)), number(tally.meanRuns),
          ] + found
        )
      }
    }
    return [
      "", "## E. `tolerance: auto`", "",
      "Adaptive repetitions; the tolerance is that of the median baseline, in % of the level of 58.4 MB. It is made from the "
        + "baseline's own spread, which does not tell of drift: where repetitions depend on each other (drifting, wandering) "
        + "it promises nothing. The tolerances above the noise are for that; DRIFT.md has real drift.", "",
    ] + table.lines
  }

  private static func tolerance(_ noise: Noise, _ baseline: Int) -> Double {
    var chance = Chance(for: "tolerance, \(noise.name), \(baseline)")
    let allowed = (0..<Defaults.trials).map { _ in
      Tolerance.automatic.allowed(
        above: noise.values(baseline, 0, level: 58.4e6, &chance).baseline, of: .peakRSS)
    }
    return 100 * (Spread.median(allowed) ?? 0) / 58.4e6
  }
}
