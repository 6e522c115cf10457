import Testing

@testable import Statistics

@Suite("Slopes with an interval")
struct SlopeIntervalTests {
  /// Nearly normal values of deviation 1, by plain sums, which are the same on every machine.
  private func noise(seed: UInt64, count: Int) -> [Double] {
    var numbers = SeededNumbers(seed: seed)
    return (0..<count).map { _ in (0..<12).reduce(-6) { sum, _ in sum + numbers.nextShare() } }
  }

  private let x = (0..<100).map(Double.init)

  @Test("On a line the interval is a point")
  func line() throws {
    let interval = try #require(SlopeInterval(x: x, y: x.map { 3 * $0 + 7 }))
    #expect(interval.slope == 3 && interval.low == 3 && interval.high == 3)
    #expect(SlopeInterval(x: [1, 1], y: [2, 3]) == nil)
    #expect(SlopeInterval(x: [], y: []) == nil)
    #expect(SlopeInterval(x: [1, 2], y: [2, 3])?.slope == 1)
  }

  @Test("The interval covers the true slope in about 95 of 100 cases, and is narrower with less noise")
  func coverage() throws {
    var (held, wide, narrow) = (0, 0.0, 0.0)
    for seed in 0..<200 as Range<UInt64> {
      let noise = noise(seed: seed, count: 100)
      let loud = try #require(SlopeInterval(x: x, y: x.map { 2 * $0 + 5 * noise[Int($0)] }))
      let quiet = try #require(SlopeInterval(x: x, y: x.map { 2 * $0 + noise[Int($0)] }))
      if (loud.low...loud.high).contains(2) { held += 1 }
      wide += loud.high - loud.low
      narrow += quiet.high - quiet.low
    }
    #expect((180...200).contains(held), "\(held) of 200")
    #expect((3...6).contains(wide / narrow))
  }

  @Test("Correlated noise widens the interval")
  func correlation() throws {
    var (wide, narrow) = (0.0, 0.0)
    for seed in 0..<20 as Range<UInt64> {
      let free = noise(seed: seed, count: 100)
      var level = 0.0
      let bound = free.map { step -> Double in
        level = 0.9 * level + 0.436 * step
        return level
      }
      let (loose, tight) = (try #require(SlopeInterval(x: x, y: bound)), try #require(SlopeInterval(x: x, y: free)))
      wide += loose.high - loose.low
      narrow += tight.high - tight.low
    }
    #expect(wide > 1.5 * narrow)
  }

  /// The bits of a slope and of the ends of its interval, as x86-64 computed them.
  private static let known: [UInt64] = [
    4_602_602_484_096_854_120, 4_602_453_165_510_373_551, 4_602_729_348_498_258_908,
  ]

  @Test("The same curve gives the same interval, bit for bit, on any machine")
  func reproducible() throws {
    let y = zip(x, noise(seed: 42, count: 100)).map { 0.5 * $0 + $1 }
    let interval = try #require(SlopeInterval(x: x, y: y))
    #expect([interval.slope, interval.low, interval.high].map(\.bitPattern) == Self.known)
  }

  @Test("A sawtooth, which rises slowly and falls at once, has no slope")
  func sawtooth() throws {
    let teeth = x.map { 30 * ($0 / 14 - ($0 / 14).rounded(.down)) }
    let interval = try #require(SlopeInterval(x: x, y: teeth))
    #expect((interval.low...interval.high).contains(0))
  }

  @Test("A block is as long as the cube root or twice the first uncorrelated lag, and at most a third of all")
  func blocks() {
    #expect(BlockBootstrap.blockLength(of: Array(repeating: 1, count: 48)) == 4)
    #expect(BlockBootstrap.blockLength(of: noise(seed: 1, count: 48)) == 4)
    let wave = (0..<48).map { $0 % 16 < 8 ? 1.0 : -1 }
    #expect(BlockBootstrap.blockLength(of: wave) == 8)
    #expect(BlockBootstrap.blockLength(of: (0..<48).map(Double.init)) == 16)
    #expect(BlockBootstrap.blockLength(of: [1]) == 1)
  }

  @Test("A resampled curve consists of whole blocks of the residuals")
  func resampled() {
    var numbers = SeededNumbers(seed: 1)
    let resampled = BlockBootstrap.resample((0..<10).map(Double.init), length: 4, using: &numbers)
    #expect(resampled.count == 10)
    for (index, value) in resampled.enumerated() where index % 4 > 0 { #expect(value == resampled[index - 1] + 1) }
  }

  @Test("Quickselect and sorting find the same median", arguments: [1, 2, 3, 10, 101, 1000])
  func selection(count: Int) {
    for bound in [1, 3, 1_000_000] {
      var numbers = SeededNumbers(seed: UInt64(count))
      var values = (0..<count).map { _ in Double(numbers.next(below: bound)) }
      let expected = Spread.median(values)
      #expect(Slope.median(&values) == expected)
    }
    var none: [Double] = []
    #expect(Slope.median(&none) == nil)
  }

  @Test("A long curve is reduced to medians of neighbours")
  func downsampling() {
    let downsampled = Slope.downsampled(x: (0..<10).map(Double.init), y: [0, 99, 0, 0, 0, 0, 5, 5, 5, 7], to: 4)
    #expect(downsampled.x == [1, 4, 7, 9] && downsampled.y == [0, 0, 5, 7])
  }

  @Test("The seeded numbers match SplitMix64 and stay below their bound")
  func numbers() {
    var numbers = SeededNumbers(seed: 1_234_567)
    #expect((0..<3).map { _ in numbers.next() } == [6457827717110365317, 3203168211198807973, 9817491932198370423])
    var counts = [Int](repeating: 0, count: 6)
    for _ in 0..<6000 { counts[numbers.next(below: 6)] += 1 }
    #expect(counts.allSatisfy { (850...1150).contains($0) })
    #expect((0..<1000).allSatisfy { _ in (0..<1).contains(numbers.nextShare()) })
  }
}
