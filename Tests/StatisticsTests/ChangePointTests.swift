import Testing

@testable import Statistics

@Suite("Steps in a time series")
struct ChangePointTests {
  /// Nearly normal values of deviation 1, by plain sums, which are the same on every machine.
  private static func noise(_ count: Int, seed: UInt64) -> [Double] {
    var numbers = SeededNumbers(seed: seed)
    return (0..<count).map { _ in (0..<12).reduce(-6) { sum, _ in sum + numbers.nextShare() } }
  }

  private static func level(_ value: Double, _ count: Int) -> [Double] {
    Array(repeating: value, count: count)
  }

  private static func places(_ values: [Double], least share: Double = 0) -> [Int] {
    ChangePoints.find(in: values) { share * $0 }.map(\.index)
  }

  // MARK: Steps

  @Test("A step has its first value, the levels on both sides, and its p-value")
  func step() throws {
    let points = ChangePoints.find(in: Self.level(100, 7) + Self.level(110, 6))
    let point = try #require(points.first)
    #expect(points.count == 1)
    #expect(point.index == 7 && point.before == 100 && point.after == 110 && point.rise == 10)
    // One of 1716 ways to choose 6 of 13, in either direction, at any of 13 places.
    #expect(abs(point.pValue - 2.0 / 1716 * 13) < 1e-15)
  }

  @Test("A fall is a step too")
  func fall() {
    let points = ChangePoints.find(in: Self.level(110, 20) + Self.level(100, 20))
    #expect(points.map(\.index) == [20])
    #expect(points.map(\.rise) == [-10])
  }

  @Test(
    "Empty, short, constant and six-against-six series have no step",
    arguments: [[], [1], [1, 2], [1, 1, 1, 9, 9, 9], level(7, 60), level(1, 6) + level(2, 6)]
  )
  func nothing(values: [Double]) {
    #expect(ChangePoints.find(in: values).isEmpty)
  }

  @Test("After 60 equal values, one or two values a page higher are not a step, three are", arguments: 0...5)
  func age(of step: Int) throws {
    let points = ChangePoints.find(in: Self.level(4_096_000, 60) + Self.level(4_100_096, step))
    #expect(points.map(\.index) == (step < 3 ? [] : [60]))
    // 3 of 43 values can be chosen in 12,341 ways.
    if step == 3 { #expect(abs(try #require(points.first).pValue - 2.0 / 12_341 * 50) < 1e-15) }
  }

  @Test("Three values need 24 before them to be a step, and seven need six")
  func fewest() {
    #expect(Self.places(Self.level(1, 24) + Self.level(2, 3)) == [24])
    #expect(Self.places(Self.level(1, 22) + Self.level(2, 3)) == [])
    #expect(Self.places(Self.level(1, 6) + Self.level(2, 7)) == [6])
  }

  @Test("Neither one outlier nor two together are a step, wherever they are", arguments: 0..<60)
  func outlier(place: Int) {
    var values = Self.noise(60, seed: 5).map { 100 + 0.5 * $0 }
    values[place] = 130
    #expect(Self.places(values).isEmpty)
    if place > 0 { values[place - 1] = 131 }
    #expect(Self.places(values).isEmpty)
  }

  @Test("A step is found wherever the windows of the search begin and end", arguments: 30..<131)
  func anyPlace(place: Int) {
    let values = Self.noise(160, seed: 6).enumerated().map { ($0 < place ? 100 : 110) + 0.5 * $1 }
    #expect(Self.places(values) == [place])
  }

  @Test("A step up that is reverted is two steps, and several are several")
  func several() {
    let levels = Self.level(100, 20) + Self.level(110, 20) + Self.level(100, 20)
    #expect(Self.places(levels) == [20, 40])
    for length in 5...19 {
      #expect(Self.places(Self.level(100, 20) + Self.level(110, length) + Self.level(100, 20)) == [20, 20 + length])
    }
    let noise = Self.noise(600, seed: 9)
    let stairs = noise.enumerated().map { 100 + 10 * Double([0, 2, 1, 4, 3, 0][$0 / 100]) + 0.5 * $1 }
    #expect(Self.places(stairs) == [100, 200, 300, 400, 500])
  }

  @Test("A step as large as the tolerance counts, and a smaller one does not")
  func tolerance() {
    let values = Self.level(100, 30) + Self.level(103, 30)
    #expect(ChangePoints.find(in: values) { _ in 3 }.map(\.index) == [30])
    #expect(ChangePoints.find(in: values) { _ in 3.001 }.isEmpty)
  }

  @Test("A small step does not hide a large one beside it")
  func besideSmall() {
    let values = Self.level(100, 20) + Self.level(101, 20) + Self.level(110, 20)
    #expect(Self.places(values) == [20, 40])
    #expect(Self.places(values, least: 0.03) == [40])
  }

  @Test("Bimodal values have no steps")
  func twoLevels() {
    var numbers = SeededNumbers(seed: 21)
    for share in [0.5, 0.2, 0.1] {
      let flagged = (0..<100).count { seed in
        let noise = Self.noise(60, seed: UInt64(seed))
        return !Self.places(noise.map { (numbers.nextShare() < share ? 114 : 100) + 0.5 * $0 }).isEmpty
      }
      #expect(flagged <= 3, "\(share)")
    }
  }

  @Test("Few of 300 series at one level have a step, and none above the tolerance")
  func oneLevel() {
    let series = (0..<300).map { seed in Self.noise(60, seed: UInt64(seed)).map { 100 + $0 } }
    #expect(series.count { !Self.places($0).isEmpty } <= 6)
    #expect(series.allSatisfy { Self.places($0, least: 0.03).isEmpty })
  }

  // MARK: Drift

  @Test("A ramp, with or without a level before or after it and noise, has no steps", arguments: [0.0, 0.5])
  func lines(deviation: Double) {
    let shapes: [(Int) -> Double] = [
      { Double($0) }, { Double(max(0, $0 - 20)) }, { Double(min(40, $0)) }, { Double(min(max($0 - 15, 0), 30)) },
      { -Double($0) },
    ]
    for shape in shapes {
      let noise = Self.noise(60, seed: 2)
      #expect(Self.places(noise.enumerated().map { 100 + 0.3 * shape($0) + deviation * $1 }).isEmpty)
    }
  }

  @Test("A long drift is not a series of steps")
  func longDrift() {
    let values = Self.noise(1000, seed: 4).enumerated().map { 100 + 0.3 * Double($0) + 0.5 * $1 }
    #expect(Self.places(values).isEmpty)
  }

  @Test("A step within drift is found, and the rest without it is drift")
  func stepWithinDrift() {
    let values = Self.noise(60, seed: 8).enumerated().map { run, noise in
      100 + 0.3 * Double(run) + (run < 30 ? 0 : 8) + 0.3 * noise
    }
    let points = ChangePoints.find(in: values) { 0.03 * $0 }
    #expect(points.map(\.index) == [30])
    #expect(Drift(ChangePoints.withoutSteps(values, points)) { 0.03 * $0 } != nil)
  }

  @Test("Without its steps a series is at its last level, where a single step is not drift")
  func withoutSteps() {
    let values = Self.level(100, 20) + Self.level(110, 20) + Self.level(107, 20)
    #expect(Drift(values) { 0.03 * $0 } != nil)
    #expect(ChangePoints.withoutSteps(values, ChangePoints.find(in: values)) == Self.level(107, 60))
    #expect(ChangePoints.withoutSteps(values, []) == values)
  }

  // MARK: Reverted rises

  @Test(
    "A rise is not reverted while the last level is above the level before it",
    arguments: [
      ([100, 110], [20]), ([110, 100], []), ([100, 110, 100], []), ([100, 110, 104], [20]),
      ([100, 110, 120], [20, 40]), ([100, 110, 120, 110], [20]), ([110, 100, 105], [40]),
      ([100, 110, 90, 95], [60]), ([100, 90, 110, 100], [40]),
    ] as [([Double], [Int])]
  )
  func unreverted(levels: [Double], expected: [Int]) {
    let points = ChangePoints.find(in: levels.flatMap { Self.level($0, 20) })
    #expect(points.count == levels.count - 1)
    #expect(ChangePoints.unreverted(points).map(\.index) == expected)
  }

  @Test("A rise reverted to within the tolerance is reverted")
  func unrevertedTolerance() {
    let points = ChangePoints.find(in: [100, 110, 102].flatMap { Self.level($0, 20) })
    #expect(ChangePoints.unreverted(points) { _ in 2 }.map(\.index) == [20])
    #expect(ChangePoints.unreverted(points) { _ in 2.1 }.isEmpty)
    #expect(ChangePoints.unreverted([]).isEmpty)
  }

  // MARK: Parts

  @Test("The divergence equals that of the paper, summed over pairs")
  func divergence() throws {
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    func within(_ part: ArraySlice<Double>) -> Double {
      mean(part.indices.flatMap { one in part.indices.filter { $0 < one }.map { abs(part[one] - part[$0]) } })
    }
    for seed in 0..<20 as Range<UInt64> {
      let values = Self.noise(16, seed: seed)
      let all = (6...16).flatMap { end in (3...end - 3).map { (place: $0, end: end) } }.map { place, end in
        let (first, second) = (values[..<place], values[place..<end])
        let between = mean(first.flatMap { one in second.map { abs(one - $0) } })
        let inner = within(first) + within(second)
        let divergence = Double(first.count * second.count) / Double(end) * (2 * between - inner)
        return (place: place, end: end, divergence: divergence)
      }
      let best = try #require(all.max { $0.divergence < $1.divergence })
      let split = try #require(Divergence.split(of: values, 0..<16))
      #expect(best.divergence > 0 && split == (best.place, best.end))
    }
    let short = try #require(Divergence.split(of: [9, 0, 0, 0, 1, 1, 1], 1..<7))
    #expect(short == (4, 7))
    #expect(Divergence.split(of: [0, 0, 1, 1, 1], 0..<5) == nil)
  }

  @Test("Without ties the p-value equals that of the exact two-sided rank test, times the places")
  func rankTest() {
    for seed in 0..<20 as Range<UInt64> {
      let values = Self.noise(40, seed: seed).enumerated().map { $1 + ($0 < 25 ? 0 : 1.5) }
      let exact = 2 * 40 * RankTest.pValue(ofRiseFrom: Array(values[..<25]), to: Array(values[25...]))
      let pValue = ChangePointCandidate.pValue(values[..<25], values[25...], among: values)
      // It is 1 if it is clearly not significant.
      #expect(pValue == 1 ? exact > 0.8 : abs(pValue - exact) < 1e-9 * exact + 1e-12)
    }
  }

  @Test("With ties the p-value is too high rather than too low")
  func equalValues() {
    let (before, after) = (Self.level(1, 20) + [2, 2], [1, 2, 2, 2, 2, 2, 2, 2.0])
    let values = before + after
    let pValue = ChangePointCandidate.pValue(values[..<22], values[22...], among: values)
    #expect(pValue >= 2 * 30 * RankTest.pValue(ofRiseFrom: before, to: after) && pValue < 1)
  }

  @Test("The same values have the same steps, bit for bit, on any machine")
  func reproducible() {
    let values = Self.noise(60, seed: 42).enumerated().map { ($0 < 40 ? 100 : 102) + $1 }
    let points = ChangePoints.find(in: values)
    #expect(points.map(\.index) == [40])
    #expect(points.flatMap { [$0.before, $0.after, $0.pValue] }.map(\.bitPattern) == Self.known)
  }

  /// The bits of the levels and of the p-value, as x86-64 computed them.
  private static let known: [UInt64] = [
    4_636_755_448_516_199_166, 4_636_849_675_767_427_201, 4_544_609_558_466_860_927,
  ]
}
