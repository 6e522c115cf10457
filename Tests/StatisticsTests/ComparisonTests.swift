import Testing

@testable import Statistics

@Suite("Exact rank test")
struct RankTests {
  /// The share of permutations with a rank sum at least as high, by enumeration.
  private func counted(_ base: [Double], _ current: [Double]) -> Double {
    let all = base + current
    func rank(_ value: Double) -> Int { all.count { $0 < value } * 2 + all.count { $0 == value } + 1 }
    let ranks = all.map(rank)
    let observed = ranks[base.count...].reduce(0, +)
    var (wanted, total) = (0, 0)
    for choice in 0..<(1 << all.count) where choice.nonzeroBitCount == current.count {
      total += 1
      let sum = ranks.indices.reduce(0) { $0 + (choice >> $1 & 1) * ranks[$1] }
      if sum >= observed { wanted += 1 }
    }
    return Double(wanted) / Double(total)
  }

  private static let sides: [(base: [Double], current: [Double])] = [
    ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), ([1, 2, 3, 4, 5], [2.5, 3.5, 4.5, 5.5, 6.5]),
    ([4096, 4096, 8192, 8192, 8192], [8192, 8192, 8192, 12288, 4096]), ([1, 1, 1, 1], [1, 1, 1, 1]),
    ([1, 1, 2], [2, 2, 2, 3, 3, 3, 4]), ([3, 3, 4, 4, 4, 9, 9], [4, 4, 9]), ([5], [5, 6, 7, 8]), ([5, 6, 7, 8], [5]),
    ([9, 8, 7, 6, 5, 4, 3, 2], [1, 2, 3, 4, 5]),
  ]

  @Test("It counts all permutations, with mid-ranks for ties", arguments: sides)
  func permutations(base: [Double], current: [Double]) {
    #expect(abs(RankTest.pValue(ofRiseFrom: base, to: current) - counted(base, current)) < 1e-12)
  }

  @Test(
    "The smallest p-value is one divided by the number of choices, and fully separated sides reach it",
    arguments: [
      (3, 3, 0.05), (4, 4, 0.0143), (3, 5, 0.0179), (5, 5, 0.0040), (3, 10, 0.0035), (6, 6, 0.0011), (10, 5, 0.00033),
    ]
  )
  func smallestPValue(first: Int, second: Int, expected: Double) {
    let (low, high) = ((0..<first).map(Double.init), (0..<second).map { 100 + Double($0 / 2) })
    #expect(abs(RankTest.smallestPValue(first, second) - expected) < expected / 25)
    #expect(RankTest.pValue(ofRiseFrom: low, to: high) == RankTest.smallestPValue(first, second))
    #expect(RankTest.pValue(ofRiseFrom: high, to: low) == 1)
  }

  @Test("Six values fully above six are significant at 0.002, which a two-sided test would miss")
  func sixAgainstSix() {
    let base = [10.0, 11, 12, 13, 14, 15]
    #expect(RankTest.pValue(ofRiseFrom: base, to: base.map { $0 + 100 }) < 0.002)
  }

  @Test("Without values the p-value is 1, and a thousand values are subsampled")
  func edges() {
    #expect(RankTest.pValue(ofRiseFrom: [], to: [1]) == 1)
    #expect(RankTest.pValue(ofRiseFrom: [1], to: []) == 1)
    let many = (0..<1000).map { Double($0 * 7919 % 1000) }
    #expect(RankTest.pValue(ofRiseFrom: many, to: many) > 0.4)
    #expect(RankTest.pValue(ofRiseFrom: many, to: many.map { $0 + 400 }) < 1e-6)
    #expect(RankTest.smallestPValue(1000, 1000) == RankTest.smallestPValue(40, 40))
  }
}

@Suite("The shift between two sets of values")
struct ShiftTests {
  /// Critical values of the exact rank-sum distribution at 5 % and 1 % per side.
  @Test(
    "The rank cut follows the exact distribution",
    arguments: [
      (3, 3, 0.05, 1), (5, 5, 0.05, 5), (5, 10, 0.05, 12), (10, 10, 0.05, 28), (20, 10, 0.05, 63),
      (3, 3, 0.01, 0), (5, 5, 0.01, 2), (10, 10, 0.01, 20),
    ]
  )
  func rankCut(first: Int, second: Int, perSide: Double, expected: Int) {
    #expect(Shift.rankCut(first, second, perSide: perSide) == expected)
    #expect(Shift.rankCut(second, first, perSide: perSide) == expected)
  }

  @Test("A pure shift is its estimate and lies in the interval, which is a point if all values agree")
  func pure() throws {
    let point = try #require(Shift(from: [10, 10, 10, 10, 10], to: [13, 13, 13, 13, 13]))
    #expect(point.estimate == 3 && point.interval == 3...3 && point.upperBound == 3 && point.lowerBound == 3)
    let base = [1.0, 2, 3, 4, 5, 6, 7, 8]
    let shift = try #require(Shift(from: base, to: base.map { $0 + 100 }))
    #expect(shift.estimate == 100)
    #expect(shift.interval.lowerBound > 93 && shift.interval.upperBound < 107)
    #expect(shift.interval.contains(shift.upperBound) && shift.upperBound > 100 && shift.lowerBound < 100)
  }

  @Test("Empty sets have no shift, and unimodal values have the whole range")
  func edges() {
    #expect(Shift(from: [], to: [1]) == nil)
    #expect(Shift(from: [1], to: [4])?.interval == 3...3)
    #expect(Shift(from: [1, 2], to: [4, 8])?.interval == 2...7)
  }

  @Test("One outlier in ten moves the estimate by less than the spread of the values")
  func outlier() throws {
    let base = (0..<10).map { 1000 + Double($0) }
    var current = base
    current[4] = 90_000
    #expect(abs(try #require(Shift(from: base, to: current)).estimate) <= 1)
  }
}

@Suite("Two modes")
struct ModesTests {
  @Test("Bimodal values are split at the gap")
  func found() throws {
    let values = [58.4, 66.4, 58.5, 66.3, 58.3, 58.4, 66.5, 58.4, 58.6, 66.4]
    let modes = try #require(Modes(of: values))
    #expect(modes.levels.low == 58.4 && modes.levels.high == 66.4)
    #expect(modes.high.count == 4)
    #expect(modes.isHigh(64) && !modes.isHigh(60))
    #expect(modes.distances(of: [58.4, 67.4]).map { ($0 * 10).rounded() } == [0, 10])
  }

  private static let unimodal: [[Double]] = [
    [58.4, 66.4, 58.5, 66.3, 58.3], [1, 1, 1, 1, 1, 1, 1, 1, 1, 99], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    Array(repeating: 7, count: 12), [],
  ]

  @Test("Fewer than ten values, one outlier, a slope and equal values have one mode", arguments: unimodal)
  func notFound(values: [Double]) {
    #expect(Modes(of: values) == nil)
  }
}

@Suite("Fisher's exact test")
struct FisherTests {
  /// The last row is Fisher's own example, the lady tasting tea.
  @Test(
    "It counts all tables with the same margins",
    arguments: [
      (5, 10, 5, 5, (252, 3003)), (5, 10, 10, 10, (252, 15504)), (0, 10, 0, 5, (1, 1)), (3, 4, 3, 4, (55, 70)),
      (1, 4, 3, 4, (17, 70)),
    ]
  )
  func fisher(base: Int, of baseCount: Int, current: Int, count: Int, expected: (wanted: Double, all: Double)) {
    let pValue = FisherTest.pValue(ofRiseFrom: base, of: baseCount, to: current, of: count)
    #expect(abs(pValue - expected.wanted / expected.all) < 1e-12)
  }
}

@Suite("Smallest detectable change")
struct DetectionTests {
  @Test(
    "The factor matches the simulation, and approaches the normal test's with many values",
    arguments: [(5, 5, 4.9), (5, 10, 4.3), (10, 10, 4.0), (20, 20, 3.85), (1000, 1000, 3.6)]
  )
  func factor(first: Int, second: Int, expected: Double) {
    #expect(abs(Detection.factor(first, second) - expected) < 0.01)
    #expect(Detection.factor(3, 3) > 4.9)
  }

  @Test("The detectable change is limited by the tolerance if the noise is small, else by the noise")
  func smallest() {
    func seen(_ deviation: Double, hasStatistics: Bool = true) -> Double {
      Detection.smallestShift(deviation: deviation, 5, 5, allowed: 100, hasStatistics: hasStatistics)
    }
    #expect(seen(0) == 100)
    #expect(abs(seen(10) - (100 + 1.28 * 10 * 0.4.squareRoot())) < 1e-9)
    #expect(abs(seen(1000) - 4.9 * 1000 * 0.4.squareRoot()) < 1e-9)
    #expect(seen(1000, hasStatistics: false) < seen(1000))
  }

  @Test("The deviation within two sets does not depend on their distance")
  func pooled() {
    #expect(Detection.pooledDeviation([1, 2, 3], [101, 102, 103]) == 1.4826)
  }
}

@Suite("The pseudomedian")
struct PseudomedianTests {
  @Test(
    "The cut follows the exact distribution of the signed-rank sum",
    arguments: [
      (4, 0.05, 0), (5, 0.05, 1), (6, 0.025, 1), (7, 0.01, 1), (10, 0.025, 9), (10, 0.05, 11), (20, 0.025, 53),
    ]
  )
  func rankCut(count: Int, perSide: Double, expected: Int) {
    #expect(Pseudomedian.rankCut(count, perSide: perSide) == expected)
  }

  @Test("The bounds contain the median, are a point for equal values, and are nil for too few")
  func bounds() throws {
    #expect(Pseudomedian.bounds(of: [3, 1, 2, 5, 4], perSide: 0.05) == 1...5)
    #expect(Pseudomedian.bounds(of: [7, 7, 7, 7, 7], perSide: 0.05) == 7...7)
    #expect(Pseudomedian.bounds(of: [1, 2, 3, 4], perSide: 0.05) == nil)
    let ten = try #require(Pseudomedian.bounds(of: (1...10).map(Double.init), perSide: 0.05))
    #expect(ten.lowerBound > 3 && ten.upperBound < 8)
  }
}
