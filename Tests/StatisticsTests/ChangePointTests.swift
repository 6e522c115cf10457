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
    SeriesAnalysis(of: values) { share * $0 }.steps.map(\.index)
  }

  /// Values around 100 with this deviation, each of which depends on the one before it by a factor.
  private static func wandering(_ count: Int, _ factor: Double, deviation: Double, seed: UInt64) -> [Double] {
    let noise = noise(count, seed: seed)
    var distance = noise[0]
    return noise.map { value in
      distance = factor * distance + (1 - factor * factor).squareRoot() * value
      return 100 + deviation * distance
    }
  }

  // MARK: Steps

  @Test("A step has its first value, the levels on both sides, and its p-value")
  func step() throws {
    let points = SeriesAnalysis(of: Self.level(100, 7) + Self.level(110, 6)).steps
    let point = try #require(points.first)
    #expect(points.count == 1)
    #expect(point.index == 7 && point.before == 100 && point.after == 110 && point.rise == 10)
    // One of 1716 ways to choose 6 of 13, in either direction, at any of 13 places.
    #expect(abs(point.pValue - 2.0 / 1716 * 13) < 1e-15)
  }

  @Test("A fall is a step too")
  func fall() {
    let points = SeriesAnalysis(of: Self.level(110, 20) + Self.level(100, 20)).steps
    #expect(points.map(\.index) == [20])
    #expect(points.map(\.rise) == [-10])
  }

  @Test(
    "Empty, short and constant series have no step",
    arguments: [[], [1], [1, 2], [1, 1, 1, 9, 9], level(7, 60), level(1, 30) + level(2, 2)]
  )
  func nothing(values: [Double]) {
    #expect(SeriesAnalysis(of: values).steps.isEmpty)
  }

  @Test("After 60 equal values, one or two values a page higher are not a step, three are", arguments: 0...5)
  func age(of step: Int) throws {
    let points = SeriesAnalysis(of: Self.level(4_096_000, 60) + Self.level(4_100_096, step)).steps
    #expect(points.map(\.index) == (step < 3 ? [] : [60]))
    // 3 of 43 values can be chosen in 12,341 ways.
    if step == 3 { #expect(abs(try #require(points.first).pValue - 2.0 / 12_341 * 50) < 1e-15) }
  }

  @Test("A short history has a step if it is clear, and none if noise may be the cause")
  func short() {
    #expect(Self.places(Self.level(1, 4) + Self.level(2, 3)) == [4])
    let (small, large) = (Self.noise(10, seed: 3), Self.noise(10, seed: 3))
    #expect(Self.places(small.enumerated().map { ($0 < 5 ? 100 : 101.5) + $1 }) == [])
    #expect(Self.places(large.enumerated().map { ($0 < 5 ? 100 : 110) + $1 }) == [5])
  }

  @Test("Neither one outlier nor two together are a step, wherever they are", arguments: 0..<60)
  func outlier(place: Int) {
    var values = Self.noise(60, seed: 5).map { 100 + 0.5 * $0 }
    values[place] = 130
    #expect(Self.places(values).isEmpty)
    if place > 0 { values[place - 1] = 131 }
    #expect(Self.places(values).isEmpty)
  }

  @Test(
    "A step is found wherever the windows of the search begin and end",
    arguments: [30, 127, 128, 129, 255, 256, 383])
  func anyPlace(place: Int) {
    let values = Self.noise(400, seed: 6).enumerated().map { ($0 < place ? 100 : 110) + 0.5 * $1 }
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

  @Test("Each step of a clear staircase is found, however short its levels are", arguments: 5...12)
  func staircase(length: Int) {
    for steps in 3...10 {
      let noise = Self.noise(length * (steps + 1), seed: 10).enumerated()
      let values = noise.map { 100 + 2 * Double($0 / length) + 0.05 * $1 }
      let analysis = SeriesAnalysis(of: values) { 0.01 * $0 }
      #expect(analysis.steps.map(\.index) == (1...steps).map { $0 * length })
      #expect(Drift(analysis.withoutSteps(values)) { 0.01 * $0 } == nil)
    }
  }

  @Test("A step as large as the tolerance counts, and a smaller one does not")
  func tolerance() {
    let values = Self.level(100, 30) + Self.level(103, 30)
    #expect(Self.places(values, least: 0.03) == [30])
    #expect(Self.places(values, least: 0.03001) == [])
  }

  @Test("A small step does not hide a large one beside it")
  func besideSmall() {
    let values = Self.level(100, 20) + Self.level(101, 20) + Self.level(110, 20)
    #expect(Self.places(values) == [20, 40])
    #expect(Self.places(values, least: 0.03) == [40])
  }

  @Test("Many small steps do not make a large one look like a wandering level")
  func besideManySmall() {
    let heights = [-2.1, -5, -7.5, -4.9, -7.1, -5.8, 0.2, 4.1, 7.4, 8.7, 6.3, 4.7]
    let values = Self.noise(180, seed: 14).enumerated().map { 200 + heights[$0 / 15] + 0.3 * $1 }
    #expect(Self.places(values, least: 0.02) == [90])
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
    #expect(series.count { !Self.places($0).isEmpty } <= 3)
    #expect(series.allSatisfy { Self.places($0, least: 0.03).isEmpty })
  }

  @Test("Runs that depend on each other are not steps", arguments: [0.3, 0.5, 0.8])
  func dependentRuns(factor: Double) {
    let flagged = (0..<200).count { seed in
      !Self.places(Self.wandering(60, factor, deviation: 1, seed: UInt64(seed)), least: 0.01).isEmpty
    }
    #expect(flagged <= 5)
  }

  @Test("A large step is found beside runs that depend on each other")
  func stepOfDependentRuns() {
    let found = (0..<50).count { seed in
      let runs = Self.wandering(60, 0.8, deviation: 1, seed: UInt64(seed)).enumerated()
      return Self.places(runs.map { $1 + ($0 < 30 ? 0 : 8) }, least: 0.01).contains(30)
    }
    #expect(found >= 48)
  }

  // MARK: Single bad runs and levels

  @Test("A single bad run does not hide a lasting step")
  func badRunBeforeStep() {
    let values = Self.noise(60, seed: 12).enumerated().map { run, noise in
      (run == 10 ? 120 : run < 15 ? 100 : 105) + 0.004 * noise
    }
    let analysis = SeriesAnalysis(of: values) { 0.01 * $0 }
    #expect(analysis.steps.map(\.index) == [15])
    #expect(analysis.outliers == [10])
    #expect(Drift(analysis.withoutSteps(values)) { 0.01 * $0 } == nil)
  }

  @Test("Up to three bad runs are outliers, wherever they are before a step", arguments: 1...3, 2...8)
  func badRuns(count: Int, distance: Int) {
    var values = Self.noise(60, seed: 13).enumerated().map { ($0 < 30 ? 100 : 105) + 0.01 * $1 }
    let bad = 30 - distance - count..<30 - distance
    for run in bad { values[run] += 20 }
    let analysis = SeriesAnalysis(of: values) { 0.01 * $0 }
    #expect(analysis.outliers == Array(bad))
    #expect(analysis.steps.map(\.index) == [30])
  }

  @Test("A bad run between two levels does not hide the steps beside it")
  func badRunAtStep() {
    let values = Self.noise(50, seed: 15).enumerated().map { run, noise in
      (16..<26 ~= run ? 130 : 100) + (run == 25 ? 50 : 0) + 2 * noise
    }
    let analysis = SeriesAnalysis(of: values) { 0.01 * $0 }
    #expect(analysis.outliers == [25])
    #expect(analysis.steps.map(\.index) == [16, 26])
  }

  @Test("The last runs are not outliers: nobody knows yet whether they last")
  func lastRuns() {
    let analysis = SeriesAnalysis(of: Self.level(100, 30) + Self.level(120, 2))
    #expect(analysis.outliers.isEmpty && analysis.steps.isEmpty)
  }

  @Test("A program that alternates between two levels has neither steps nor outliers", arguments: [0.5, 0.2, 0.1])
  func alternating(share: Double) {
    var numbers = SeededNumbers(seed: 23)
    let values = Self.noise(80, seed: 23).map { 100 + 0.2 * $0 + (numbers.nextShare() < share ? 10 : 0) }
    let analysis = SeriesAnalysis(of: values) { 0.01 * $0 }
    #expect(analysis.steps.isEmpty && analysis.outliers.isEmpty)
    #expect(zip(analysis.levels, [100, 110]).allSatisfy { abs($0 - $1) < 0.2 } && analysis.levels.count == 2)
  }

  @Test("A program that stays at each of two levels for a while has no steps; there and back is two")
  func levelFlips() {
    let (low, high) = (Self.level(100, 12), Self.level(105, 12))
    let flips = SeriesAnalysis(of: low + high + low + high + low + high)
    #expect(flips.steps.isEmpty && flips.levels == [100, 105])
    let reverted = SeriesAnalysis(of: low + high + low)
    #expect(reverted.steps.map(\.index) == [12, 24] && reverted.levels.isEmpty)
    let step = SeriesAnalysis(of: low + high + low + high + low + Self.level(120, 12))
    #expect(step.steps.map(\.index) == [60])
  }

  @Test("A step in both of two levels is found")
  func stepOfBothLevels() {
    var numbers = SeededNumbers(seed: 24)
    let values = Self.noise(80, seed: 24).enumerated().map { run, noise in
      100 + 0.2 * noise + (numbers.nextShare() < 0.4 ? 3 : 0) + (run < 40 ? 0 : 6)
    }
    #expect(Self.places(values, least: 0.01) == [40])
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

  @Test("Neighbouring steps are not steps if one ramp over both fits as well")
  func noisyRamps() {
    let flagged = (0..<100).count { seed in
      let noise = Self.noise(120, seed: UInt64(seed)).enumerated()
      return !Self.places(noise.map { 100 + 0.1 * Double($0) + 2 * $1 }, least: 0.01).isEmpty
    }
    #expect(flagged <= 2)
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
    let analysis = SeriesAnalysis(of: values) { 0.03 * $0 }
    #expect(analysis.steps.map(\.index) == [30])
    #expect(Drift(analysis.withoutSteps(values)) { 0.03 * $0 } != nil)
  }

  @Test(
    "A step within drift is as large as the jump at its place, and the rest is the drift alone",
    arguments: [0.05, 0.3, -0.1], [0.0, 0.2])
  func sizeWithinDrift(slope: Double, deviation: Double) throws {
    let values = Self.noise(60, seed: 8).enumerated().map { run, noise in
      100 + slope * Double(run) + (run < 30 ? 0 : 8) + deviation * noise
    }
    let analysis = SeriesAnalysis(of: values) { 0.03 * $0 }
    let step = try #require(analysis.steps.first)
    #expect(analysis.steps.count == 1 && step.index == 30)
    #expect(abs(step.rise - 8) < 0.5)
    #expect(abs(step.before - (100 + 30 * slope)) < 0.5)
    let rest = analysis.withoutSteps(values)
    #expect(abs(rest[59] - rest[0] - 59 * slope) < 1.2)
  }

  @Test("Where only one side of a step drifts, the level of the other is its median")
  func driftOnOneSide() throws {
    let values = (0..<60).map { 100 + ($0 < 30 ? 0.3 * Double($0) : 20) }
    let step = try #require(SeriesAnalysis(of: values).steps.first)
    #expect(abs(step.before - 109) < 1e-9 && step.after == 120)
  }

  @Test("Without its steps a series is at its last level, where a single step is not drift")
  func withoutSteps() {
    let values = Self.level(100, 20) + Self.level(110, 20) + Self.level(107, 20)
    #expect(Drift(values) { 0.03 * $0 } != nil)
    #expect(SeriesAnalysis(of: values).withoutSteps(values) == Self.level(107, 60))
    #expect(SeriesAnalysis(of: []).withoutSteps(values) == values)
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
    let analysis = SeriesAnalysis(of: levels.flatMap { Self.level($0, 20) })
    #expect(analysis.steps.count == levels.count - 1)
    #expect(analysis.unreverted().map(\.index) == expected)
  }

  @Test("A rise reverted to within the tolerance is reverted")
  func unrevertedTolerance() {
    let analysis = SeriesAnalysis(of: [100, 110, 102].flatMap { Self.level($0, 20) })
    #expect(analysis.unreverted { _ in 2 }.map(\.index) == [20])
    #expect(analysis.unreverted { _ in 2.1 }.isEmpty)
    #expect(SeriesAnalysis(of: []).unreverted().isEmpty)
  }

  // MARK: Parts

  @Test("The parts have the least costs of all divisions")
  func segmentation() {
    func cost(_ part: ArraySlice<Double>) -> Double {
      let mean = part.reduce(0, +) / Double(part.count)
      return part.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }
    for seed in 0..<20 as Range<UInt64> {
      let values = Self.noise(14, seed: seed).enumerated().map { $1 + 12 * Double($0 / 5) }
      let penalty = 11 * Outliers.noise(of: values) * Outliers.noise(of: values)
      // Each division is a set of places, of which neighbours are at least three apart.
      let divisions = (0..<1 << 9).map { bits in (3...11).filter { bits >> ($0 - 3) & 1 == 1 } }
        .filter { zip([0] + $0, $0 + [14]).allSatisfy { $1 - $0 >= 3 } }
      let costs = divisions.map { places in
        zip([0] + places, places + [14]).reduce(penalty * Double(places.count)) { $0 + cost(values[$1.0..<$1.1]) }
      }
      let best = zip(divisions, costs).min { $0.1 < $1.1 }
      #expect(Segmentation.places(in: values) == best?.0)
    }
  }

  @Test("The likelihood ratio compares a step with dependence on the value before")
  func likelihoodRatio() {
    func ratio(_ before: [Double], _ after: [Double]) -> Double {
      Autoregression.strength(ofStepBetween: before[...], and: after[...])
    }
    // One level leaves 62.46 squares unexplained, two leave 1.33, so z is 0.958: 6.5 × 2 (z + z³/3).
    #expect(abs(ratio([0, 1, 0, 1], [10, 11, 10, 11]) - 16.269) < 0.001)
    #expect(ratio([0, 1, 0, 1], [0, 1, 0, 1]) < 2)
    // A wandering level explains a slow rise.
    #expect(ratio([0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12, 13]) == 0)
  }

  @Test("Without ties the p-value equals that of the exact two-sided rank test, times the places")
  func rankTest() {
    for seed in 0..<20 as Range<UInt64> {
      let values = Self.noise(40, seed: seed).enumerated().map { $1 + ($0 < 25 ? 0 : 1.5) }
      let exact = 2 * 40 * RankTest.pValue(ofRiseFrom: Array(values[..<25]), to: Array(values[25...]))
      let pValue = ChangePointCandidate.pValue(Array(values[..<25]), Array(values[25...]), among: 40)
      // It is 1 if it is clearly not significant.
      #expect(pValue == 1 ? exact > 0.8 : abs(pValue - exact) < 1e-9 * exact + 1e-12)
    }
  }

  @Test("With ties the p-value is too high rather than too low")
  func equalValues() {
    let (before, after) = (Self.level(1, 20) + [2, 2], [1, 2, 2, 2, 2, 2, 2, 2.0])
    let pValue = ChangePointCandidate.pValue(before, after, among: 30)
    #expect(pValue >= 2 * 30 * RankTest.pValue(ofRiseFrom: before, to: after) && pValue < 1)
  }

  @Test("The same values have the same steps, bit for bit, on any machine")
  func reproducible() {
    let values = Self.noise(60, seed: 42).enumerated().map { ($0 < 40 ? 100 : 102) + $1 }
    let points = SeriesAnalysis(of: values).steps
    #expect(points.map(\.index) == [40])
    #expect(points.flatMap { [$0.before, $0.after, $0.pValue] }.map(\.bitPattern) == Self.known)
  }

  /// The bits of the levels and of the p-value, as x86-64 computed them.
  private static let known: [UInt64] = [
    4_636_755_448_516_199_166, 4_636_849_675_767_427_201, 4_544_609_558_466_860_927,
  ]
}
