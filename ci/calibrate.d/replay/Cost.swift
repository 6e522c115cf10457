import GateCore
import Glibc
import Statistics

/// The duration of judging; only printed, since it differs from run to run.
enum Cost {
  static func lines() -> [String] {
    judging() + searching()
  }

  private static func judging() -> [String] {
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
      // CPU time of this process, which is independent of other processes.
      let start = clock()
      for scenario in scenarios { tally.add(replay.result(scenario.baseline, scenario.current)) }
      let time = number(Double(clock() - start) / Double(CLOCKS_PER_SEC), places: 2)
      let found = tally.count(of: .regression)
      return "judging 1000 scenarios of 20 repetitions (\(name)): \(time) s of CPU, \(found) regressions"
    }
  }

  /// A history of 10,000 runs of 20 scenarios with two metrics each, a step every 500 runs.
  private static func searching() -> [String] {
    [Noise.normal(1), .pages].map { noise in
      var chance = Chance(for: "cost, steps, \(noise.name)")
      let all = (0..<40).map { _ in
        noise.values(10_000, 0, level: 58.4e6, &chance).baseline.enumerated().map { index, value in
          value * (1 + 0.05 * Double(index / 500 % 3))
        }
      }
      let start = clock()
      let found = all.reduce(0) { $0 + SeriesAnalysis(of: $1) { 0.03 * $0 }.steps.count }
      let time = number(Double(clock() - start) / Double(CLOCKS_PER_SEC), places: 2)
      return "searching 40 series of 10000 values for steps (\(noise.name)): \(time) s of CPU, \(found) steps"
    }
  }
}
