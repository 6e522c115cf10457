import GateCore
import Glibc

/// How long judging takes; printed only, since no two runs of it are alike.
enum Cost {
  static func lines() -> [String] {
    [("equal", 1.0, 0.5), ("noisy and risen, so that every test is made", 1.08, 5)].map { name, factor, percent in
      let noise = Noise.normal(percent)
      var chance = Chance(for: "cost, \(name)")
      let replay = Replay(gate: .standard, repetitions: .fixed(Defaults.most))
      let scenarios = (0..<1000).map { _ in
        let peak = noise.values(Defaults.most, Defaults.most, level: 70e6, factor: factor, &chance)
        let steady = noise.values(Defaults.most, Defaults.most, level: 60e6, factor: factor, &chance)
        let current = zip(peak.current, steady.current).map { Replay.repetition([.peakRSS: $0, .steadyRSS: $1]) }
        return (baseline: [MetricName.peakRSS: peak.baseline, .steadyRSS: steady.baseline], current: current)
      }
      var tally = Tally()
      // The process's own time: what else the machine does is no cost of judging.
      let start = clock()
      for scenario in scenarios { tally.add(replay.result(scenario.baseline, scenario.current)) }
      let time = figure(Double(clock() - start) / Double(CLOCKS_PER_SEC), places: 2)
      let found = tally.count(of: .regression)
      return "judging 1000 scenarios of 20 repetitions (\(name)): \(time) s of CPU, \(found) regressions"
    }
  }
}
