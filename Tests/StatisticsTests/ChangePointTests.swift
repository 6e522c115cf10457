import Testing

@testable import Statistics

@Suite("Steps in a history")
struct ChangePointTests {
  /// Near enough to normal values of deviation 1, by plain sums, which are the same on every machine.
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

  // MARK: What is a step

  @Test("A step has its first value, the levels on both sides, and its chance")
  func step() throws {
    let points = ChangePoints.find(in: Self.level(100, 7) + Self.level(110, 6))
    let point = try #require(points.first)
    #expect(points.count == 1)
    #expect(point.index == 7 && point.before == 100 && point.after == 110 && point.rise == 10)
    // 1 of 1716 ways to choose 6 of 13 for either direction, at any of 13 places.
    #expect(abs(point.chance - 2.0 / 1716 * 13) < 1e-15)
  }

  @Test("A fall is a step too")
  func fall() {
    let points = ChangePoints.find(in: Self.level(110, 20) + Self.level(100, 20))
    #expect(points.map(\.index) == [20])
    #expect(points.map(\.rise) == [-10])
  }

  @Test(
    "No values, few, equal ones, and six against six tell nothing",
    arguments: [[], [1], [1, 2], [1, 1, 1, 9, 9, 9], level(7, 60), level(1, 6) + level(2, 6)]
  )
  func nothing(values: [Double]) {
    #expect(ChangePoints.find(in: values).isEmpty)
  }

  @Test("After 60 equal values one or two that are a page higher are no step, three are", arguments: 0...5)
  func age(of step: Int) throws {
    let points = ChangePoints.find(in: Self.level(4_096_000, 60) + Self.level(4_100_096, step))
    #expect(points.map(\.index) == (step < 3 ? [] : [60]))
    // 3 of 43 values can be chosen in 12,341 ways.
    if step == 3 { #expect(abs(try #require(points.first).chance - 2.0 / 12_341 * 50) < 1e-15) }
  }

  @Test("A step three runs ago needs 24 values before it, and six need seven on the other side")
  func fewest() {
    #expect(Self.places(Self.level(1, 24) + Self.level(2, 3)) == [24])
    #expect(Self.places(Self.level(1, 22) + Self.level(2, 3)) == [])
    #expect(Self.places(Self.level(1, 6) + Self.level(2, 7)) == [6])
  }

  @Test("One outlier is no step, wherever it is, nor are two together", arguments: 0..<60)
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

  @Test("A step up that is taken back is two steps, and several are several")
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

  @Test("Values that jump between two levels, and a few of many that lie high, have no steps")
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

  @Test("Of 300 series at one level few have a step, and none that the tolerance lets through")
  func oneLevel() {
    let series = (0..<300).map { seed in Self.noise(60, seed: UInt64(seed)).map { 100 + $0 } }
    #expect(series.count { !Self.places($0).isEmpty } <= 6)
    #expect(series.allSatisfy { Self.places($0, least: 0.03).isEmpty })
  }

  // MARK: What is creep

  @Test("A line has no steps, nor a line after a level or before one, with noise or without", arguments: [0.0, 0.5])
  func lines(deviation: Double) {
    let courses: [(Int) -> Double] = [
      { Double($0) }, { Double(max(0, $0 - 20)) }, { Double(min(40, $0)) }, { Double(min(max($0 - 15, 0), 30)) },
      { -Double($0) },
    ]
    for course in courses {
      let noise = Self.noise(60, seed: 2)
      #expect(Self.places(noise.enumerated().map { 100 + 0.3 * course($0) + deviation * $1 }).isEmpty)
    }
  }

  @Test("A long creep is no row of steps")
  func longCreep() {
    let values = Self.noise(1000, seed: 4).enumerated().map { 100 + 0.3 * Double($0) + 0.5 * $1 }
    #expect(Self.places(values).isEmpty)
  }

  @Test("A step amid creep is found, and what is left without it is creep")
  func stepAmidCreep() {
    let values = Self.noise(60, seed: 8).enumerated().map { run, noise in
      100 + 0.3 * Double(run) + (run < 30 ? 0 : 8) + 0.3 * noise
    }
    let points = ChangePoints.find(in: values) { 0.03 * $0 }
    #expect(points.map(\.index) == [30])
    #expect(Creep(ChangePoints.withoutSteps(values, points)) { 0.03 * $0 } != nil)
  }

  @Test("Without its steps a history lies at its last level, where a step alone is no creep")
  func withoutSteps() {
    let values = Self.level(100, 20) + Self.level(110, 20) + Self.level(107, 20)
    #expect(Creep(values) { 0.03 * $0 } != nil)
    #expect(ChangePoints.withoutSteps(values, ChangePoints.find(in: values)) == Self.level(107, 60))
    #expect(ChangePoints.withoutSteps(values, []) == values)
  }

  // MARK: What to look at now

  @Test(
    "A rise matters while the last level lies above the best before it",
    arguments: [
      ([100, 110], [20]), ([110, 100], []), ([100, 110, 100], []), ([100, 110, 104], [20]),
      ([100, 110, 120], [20, 40]), ([100, 110, 120, 110], [20]), ([110, 100, 105], [40]),
      ([100, 110, 90, 95], [60]), ([100, 90, 110, 100], [40]),
    ] as [([Double], [Int])]
  )
  func standing(levels: [Double], expected: [Int]) {
    let points = ChangePoints.find(in: levels.flatMap { Self.level($0, 20) })
    #expect(points.count == levels.count - 1)
    #expect(ChangePoints.standing(points).map(\.index) == expected)
  }

  @Test("A rise that was taken back but for less than the tolerance does not matter")
  func standingTolerance() {
    let points = ChangePoints.find(in: [100, 110, 102].flatMap { Self.level($0, 20) })
    #expect(ChangePoints.standing(points) { _ in 2 }.map(\.index) == [20])
    #expect(ChangePoints.standing(points) { _ in 2.1 }.isEmpty)
    #expect(ChangePoints.standing([]).isEmpty)
  }

  // MARK: Its parts

  @Test("The divergence is that of the paper, summed pair by pair")
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

  @Test("Without equal values the chance is that of the exact rank test on both sides, at all places")
  func rankTest() {
    for seed in 0..<20 as Range<UInt64> {
      let values = Self.noise(40, seed: seed).enumerated().map { $1 + ($0 < 25 ? 0 : 1.5) }
      let exact = 2 * 40 * RankTest.chance(ofRiseFrom: Array(values[..<25]), to: Array(values[25...]))
      let chance = Step.chance(values[..<25], values[25...], among: values)
      // Where it is plainly no step no figure is made.
      #expect(chance == 1 ? exact > 0.8 : abs(chance - exact) < 1e-9 * exact + 1e-12)
    }
  }

  @Test("With equal values the chance is rather too high than too low")
  func equalValues() {
    let (before, after) = (Self.level(1, 20) + [2, 2], [1, 2, 2, 2, 2, 2, 2, 2.0])
    let values = before + after
    let chance = Step.chance(values[..<22], values[22...], among: values)
    #expect(chance >= 2 * 30 * RankTest.chance(ofRiseFrom: before, to: after) && chance < 1)
  }

  @Test("The same values have the same steps, to the bit, on any machine")
  func reproducible() {
    let values = Self.noise(60, seed: 42).enumerated().map { ($0 < 40 ? 100 : 102) + $1 }
    let points = ChangePoints.find(in: values)
    #expect(points.map(\.index) == [40])
    #expect(points.flatMap { [$0.before, $0.after, $0.chance] }.map(\.bitPattern) == Self.known)
  }

  /// The bits of the levels and of the chance, as x86-64 computed them.
  private static let known: [UInt64] = [
    4_636_755_448_516_199_166, 4_636_849_675_767_427_201, 4_544_609_558_466_860_927,
  ]
}
