import Testing

@testable import Statistics

@Suite("Medians and deviations")
struct SpreadTests {
  @Test("The median is the middle value, or the mean of the middle two")
  func median() {
    #expect(Spread.median([3, 1, 2]) == 2)
    #expect(Spread.median([4, 1, 2, 3]) == 2.5)
    #expect(Spread.median([]) == nil)
  }

  @Test(
    "Quantiles interpolate between neighbours", arguments: [(0.0, 10.0), (0.25, 20), (0.5, 30), (0.9, 46), (1, 50)])
  func quantile(share: Double, expected: Double) throws {
    let value = try #require(Spread.quantile([50, 10, 40, 20, 30], share))
    #expect(abs(value - expected) < 1e-9)
  }

  @Test("Neither an outlier nor equal values hide the noise")
  func noise() {
    #expect(Spread.noise([10, 10, 10, 10, 10, 10, 10, 10, 10, 9999]) == 0)
    #expect(Spread.noise([10, 10, 10, 10, 10, 10, 20, 20, 20, 20]) > 7)
    #expect(Spread.noise(Array(1...9).map(Double.init)) == 1.4826 * 2)
    #expect(Spread.noise([]) == 0)
  }

  @Test("The scaled MAD of 1…9 is 1.4826 × 2")
  func deviation() {
    #expect(Spread.scaledMAD(Array(1...9).map(Double.init)) == 1.4826 * 2)
  }
}

@Suite("Steady state")
struct SteadyStateTests {
  @Test("A flat curve is steady from its start")
  func flat() {
    #expect(SteadyState.start(of: Array(repeating: 5, count: 40), floor: 0) == 0)
  }

  @Test("A stepwise warm-up ends with its last step")
  func stairs() {
    let curve = (0..<100).map { $0 < 10 ? 10.0 : $0 < 30 ? 60 : 100 }
    #expect(SteadyState.start(of: curve, floor: 0.5) == 30)
  }

  @Test("A step in the second half leaves no steady state")
  func lateStep() {
    let curve = (0..<100).map { $0 < 49 ? 10.0 : 100 }
    #expect(SteadyState.start(of: curve, floor: 0.5) == 49)
    let later = (0..<100).map { $0 < 50 ? 10.0 : 100 }
    #expect(SteadyState.start(of: later, floor: 0.5) == nil)
  }

  @Test("Deviations below the floor do not count, and a short curve has no steady state")
  func floor() {
    let curve = (0..<40).map { $0 < 10 ? 990.0 : 1000 }
    #expect(SteadyState.start(of: curve, floor: 20) == 0)
    #expect(SteadyState.start(of: [1, 1, 1, 1, 1, 1, 1], floor: 20) == nil)
  }
}

@Suite("Slopes")
struct SlopeTests {
  @Test("The slope is exact on a line, also with a few outliers")
  func slope() {
    let x = (0..<50).map(Double.init)
    var y = x.map { 3 * $0 + 7 }
    #expect(Slope.theilSen(x: x, y: y) == 3)
    y[10] = 1e9
    y[11] = -1e9
    #expect(Slope.theilSen(x: x, y: y) == 3)
    #expect(Slope.theilSen(x: [1, 1], y: [2, 3]) == nil)
    #expect(Slope.theilSen(x: (0..<5000).map(Double.init), y: (0..<5000).map { 2 * Double($0) }) == 2)
  }
}
