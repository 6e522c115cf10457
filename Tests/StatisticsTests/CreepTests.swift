import Statistics
import Testing

@Suite("Creep over many runs")
struct CreepTests {
  /// A nearly normal value: the sum of twelve uniform ones has the variance 1 (Irwin and Hall 1927).
  private static func normal(_ numbers: inout SeededNumbers) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + numbers.nextShare() }
  }

  /// Quiet values at 100, of which the last `rising` rise by `rate` each.
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

  @Test("The anchor is the lowest level that ten values held, and the level that of the last five")
  func anchor() throws {
    let values = Array(repeating: 104.0, count: 10) + Array(repeating: 100, count: 10) + [102, 103, 104, 105, 106]
    let creep = try #require(Creep(values, tolerance: Self.threePercent))
    #expect(creep.anchor == 100 && creep.level == 104 && creep.rise == 4)
    #expect(creep.anchorIndex == 15)
  }

  @Test("A few lucky runs are no anchor, and fewer than fifteen values tell nothing")
  func noAnchor() {
    let lucky = Array(repeating: 100.0, count: 10) + [90, 90, 90, 90] + Array(repeating: 100, count: 10)
    #expect(Creep(lucky, tolerance: Self.threePercent) == nil)
    let short = Array(repeating: 100.0, count: 10) + Array(repeating: 120, count: 4)
    #expect(Creep(short, tolerance: Self.threePercent) == nil)
    let slow = Array(repeating: 100.0, count: 10) + [104, 108, 112, 116, 120]
    #expect(Creep(slow, tolerance: Self.threePercent)?.rise == 12)
  }

  @Test(
    "Values that jump between two levels do not creep when the last ones are at the higher one", arguments: [0.5, 0.2])
  func twoLevels(share: Double) {
    var numbers = SeededNumbers(seed: 5)
    let flagged = (0..<200).count { _ in
      let values = Self.series(60, deviation: 0.005, &numbers).map { $0 * (numbers.nextShare() < share ? 1.08 : 1) }
      return Creep(values, tolerance: Self.threePercent) != nil
    }
    #expect(flagged <= 2)
  }

  @Test("The rise itself does not count as noise")
  func noiseOfCreep() {
    let values = (0..<60).map { 100 + Double($0) * 0.3 }
    #expect(Creep(values, tolerance: Self.threePercent) != nil)
  }

  @Test("Of quiet series of 60 runs few or none are flagged", arguments: [(0.005, 0), (0.01, 1), (0.02, 2), (0.04, 4)])
  func quiet(deviation: Double, most: Int) {
    var numbers = SeededNumbers(seed: 7)
    let flagged = (0..<200).count { _ in
      Creep(Self.series(60, deviation: deviation, &numbers), tolerance: Self.threePercent) != nil
    }
    #expect(flagged <= most)
  }

  /// Twenty quiet runs go before the rise.
  @Test(
    "A creep of 0.3 % a run is found in every series, of 0.1 % where the noise is small",
    arguments: [(0.003, 0.005, 22), (0.003, 0.01, 28), (0.003, 0.02, 45), (0.001, 0.005, 60)]
  )
  func found(rate: Double, deviation: Double, within runs: Int) {
    var numbers = SeededNumbers(seed: 11)
    let found = (0..<50).count { _ in
      let values = Self.series(20 + runs, deviation: deviation, rising: runs, rate: rate, &numbers)
      return Creep(values, tolerance: Self.threePercent) != nil
    }
    #expect(found == 50)
  }
}
