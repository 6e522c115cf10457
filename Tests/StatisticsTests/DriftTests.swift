import Statistics
import Testing

@Suite("Drift over many runs")
struct DriftTests {
  /// A nearly normal value: the sum of twelve uniform values has the variance 1 (Irwin and Hall 1927).
  private static func normal(_ numbers: inout SeededNumbers) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + numbers.nextShare() }
  }

  /// Values at the level 100, of which the last `rising` rise by `rate` each.
  private static func series(
    _ count: Int,
    deviation: Double,
    rising: Int = 0,
    rate: Double = 0,
    _ numbers: inout SeededNumbers
  ) -> [Double] {
    var level = 100.0
    return (0..<count).map { index in
      if index >= count - rising { level *= 1 + rate }
      return level * (1 + deviation * normal(&numbers))
    }
  }

  private static func threePercent(_ level: Double) -> Double { 0.03 * level }

  @Test("The anchor is the lowest median of ten values, and the level the median of the last five")
  func anchor() throws {
    let values = Array(repeating: 104.0, count: 10) + Array(repeating: 100, count: 10) + [102, 103, 104, 105, 106]
    let drift = try #require(Drift(values, tolerance: Self.threePercent))
    #expect(drift.anchor == 100 && drift.level == 104 && drift.rise == 4)
    #expect(drift.anchorIndex == 15)
  }

  @Test("A few low runs are not an anchor, and fewer than fifteen values are too few")
  func noAnchor() {
    let low = Array(repeating: 100.0, count: 10) + [90, 90, 90, 90] + Array(repeating: 100, count: 10)
    #expect(Drift(low, tolerance: Self.threePercent) == nil)
    let short = Array(repeating: 100.0, count: 10) + Array(repeating: 120, count: 4)
    #expect(Drift(short, tolerance: Self.threePercent) == nil)
    let slow = Array(repeating: 100.0, count: 10) + [104, 108, 112, 116, 120]
    #expect(Drift(slow, tolerance: Self.threePercent)?.rise == 12)
  }

  @Test(
    "Bimodal values do not drift when the last ones are at the higher mode", arguments: [0.5, 0.2])
  func twoLevels(share: Double) {
    var numbers = SeededNumbers(seed: 5)
    let flagged = (0..<200).count { _ in
      let values = Self.series(60, deviation: 0.005, &numbers).map { $0 * (numbers.nextShare() < share ? 1.08 : 1) }
      return Drift(values, tolerance: Self.threePercent) != nil
    }
    #expect(flagged <= 2)
  }

  @Test("The rise itself does not count as noise")
  func noiseOfDrift() {
    let values = (0..<60).map { 100 + Double($0) * 0.3 }
    #expect(Drift(values, tolerance: Self.threePercent) != nil)
  }

  @Test(
    "Few or none of the level series of 60 runs are flagged", arguments: [(0.005, 0), (0.01, 1), (0.02, 2), (0.04, 4)])
  func level(deviation: Double, most: Int) {
    var numbers = SeededNumbers(seed: 7)
    let flagged = (0..<200).count { _ in
      Drift(Self.series(60, deviation: deviation, &numbers), tolerance: Self.threePercent) != nil
    }
    #expect(flagged <= most)
  }

  @Test("Runs that depend on each other do not drift")
  func dependentRuns() {
    var numbers = SeededNumbers(seed: 9)
    let flagged = (0..<200).count { _ in
      var distance = Self.normal(&numbers)
      let values = (0..<60).map { _ in
        distance = 0.8 * distance + 0.6 * Self.normal(&numbers)
        return 100 + distance
      }
      return Drift(values) { 0.01 * $0 } != nil
    }
    #expect(flagged <= 10)
  }

  /// Twenty level runs precede the rise.
  @Test(
    "A drift of 0.3 % per run is always found, and 0.1 % if the noise is small",
    arguments: [(0.003, 0.005, 22), (0.003, 0.01, 28), (0.003, 0.02, 45), (0.001, 0.005, 60)]
  )
  func found(rate: Double, deviation: Double, within runs: Int) {
    var numbers = SeededNumbers(seed: 11)
    let found = (0..<50).count { _ in
      let values = Self.series(20 + runs, deviation: deviation, rising: runs, rate: rate, &numbers)
      return Drift(values, tolerance: Self.threePercent) != nil
    }
    #expect(found == 50)
  }
}
