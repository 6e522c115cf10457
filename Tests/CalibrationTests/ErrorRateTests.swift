import GateCore
import Testing
import calibrate

/// A small part of `ci/calibrate`: fewer comparisons, with fixed seeds.
@Suite("Error rates of verdicts")
struct ErrorRateTests {
  private static let trials = 300

  private func tally(_ noise: Noise, _ replay: Replay = Replay(), level: Double = 58.4e6, factor: Double = 1) -> Tally {
    Experiment(noise, replay, level: level, factor: factor, trials: Self.trials).tally()
  }

  @Test(
    "Unchanged programs are a regression in at most 1 % of cases, whatever their noise",
    arguments: Noise.all
  )
  func falseAlarms(noise: Noise) {
    // A true share of 1 % exceeds 6 of 300 in 3 of 100 samples; the seeds are fixed.
    #expect(tally(noise).count(of: .regression) <= 6)
  }

  @Test(
    "A quiet program is decided after the minimum of repetitions, and never inconclusive",
    arguments: [2e6, 58.4e6, 2e9])
  func quiet(level: Double) {
    let tally = tally(.normal(0.5), level: level)
    #expect(tally.count(of: .pass) == Self.trials)
    #expect(tally.meanRuns == 5)
  }

  @Test(
    "A rise well above the tolerance is found in 98 of 100 cases, with more repetitions if there is noise",
    arguments: [(0.2, 1.05, 5.0), (0.8, 1.05, 5.5), (2, 1.05, 10), (4, 1.1, 10)]
  )
  func detection(percent: Double, factor: Double, most: Double) {
    let tally = tally(.normal(percent), factor: factor)
    #expect(tally.percent(.regression) >= 98)
    #expect(tally.meanRuns <= most)
  }

  @Test("A rise below the tolerance passes if the noise is small", arguments: [1.01, 1.02])
  func tolerated(factor: Double) {
    #expect(tally(.normal(0.2), factor: factor).count(of: .pass) == Self.trials)
  }

  @Test("A fall is found as an improvement as reliably as a rise as a regression")
  func mirror() {
    let tally = tally(.normal(0.8), factor: 0.95)
    #expect(tally.percent(.improved) >= 99)
    #expect(tally.count(of: .regression) == 0)
  }

  @Test(
    "`tolerance: auto` has false alarms in at most 1 % of cases if repetitions are independent",
    arguments: [Noise.normal(0.1), .normal(1), .normal(5), .bimodal(0.5), .heavyTailed, .pages, .slabs]
  )
  func automatic(noise: Noise) {
    #expect(tally(noise, Replay(tolerance: .automatic)).count(of: .regression) <= 6)
  }
}

@Suite("Rules of other tools, for comparison")
struct OtherToolsTests {
  @Test(
    "Student's t equals published tables",
    arguments: [
      // t, degrees of freedom, two-sided p-value: NIST/SEMATECH e-Handbook 1.3.6.7.2; the last two are Welch's test of
      // R's `sleep` data (Student 1908) and the limit at zero.
      (12.706, 1, 0.05), (2.571, 5, 0.05), (4.032, 5, 0.01), (2.228, 10, 0.05), (3.169, 10, 0.01), (2.042, 30, 0.05),
      (1.984, 100, 0.05), (1.8608, 17.776, 0.07939), (0, 4, 1),
    ]
  )
  func studentT(t: Double, freedom: Double, chance: Double) {
    #expect(abs(StudentT.twoSidedChance(of: t, freedom: freedom) - chance) < 0.00006)
  }

  @Test("Welch's test finds a rise above the noise, and neither a fall nor noise")
  func welch() {
    let sleep = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    let longer = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    #expect(!Peers.welch(sleep, longer))
    #expect(Peers.welch(sleep, longer.map { $0 + 0.5 }))
    #expect(!Peers.welch(longer.map { $0 + 0.5 }, sleep))
  }

  @Test("Plain thresholds compare only the median or the mean")
  func thresholds() {
    #expect(Peers.threshold([100, 100, 100], [106, 106, 0]))
    #expect(!Peers.threshold([100, 100, 100], [105, 105, 900]))
    #expect(Peers.lastRun([100, 100], [100, 111]))
    #expect(!Peers.lastRun([100, 100], [100, 110]))
  }
}
