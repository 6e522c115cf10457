import GateCore
import Testing

@Suite("Comparing growth with a limit")
struct LimitTests {
  private func result(_ growth: [Growth], limit: Amount = .kibibytes(1)) -> MetricResult? {
    var measurements = Given.measurements(
      [.growth: growth.map(\.slope)], gate: Gate(rules: [GateRule(metric: .growth, tolerance: nil, limit: limit)])
    )
    for index in growth.indices { measurements.repetitions[index].growth = growth[index] }
    measurements.growthIsPerIteration = true
    return measurements.judged(against: .missing).metrics.first
  }

  private func five(_ slope: Double, within width: Double, _ kind: Growth.Kind = .continuous) -> [Growth] {
    (0..<5).map { index in
      let slope = slope + Double(index - 2) * width / 8
      return Growth(slope: slope, low: slope - width, high: slope + width, kind: kind)
    }
  }

  @Test("Growth with an interval above the limit is a regression, below it a pass, otherwise undecided")
  func threeWays() throws {
    let above = try #require(result(five(2000, within: 100)))
    #expect(above.verdict == .regression)
    #expect(above.reason == .aboveLimit(atLeastBy: 876))
    #expect(result(five(500, within: 100))?.verdict == .pass)
    let between = try #require(result(five(1100, within: 4000)))
    #expect(between.verdict == .inconclusive && between.isUndecided)
    guard case .nearLimit(let low, let high)? = between.reason else {
      Issue.record("\(String(describing: between.reason))")
      return
    }
    #expect(low < 1024 && high > 1024)
  }

  @Test("Settling growth is not a leak, and more repetitions would not help")
  func settling() throws {
    let settling = try #require(result(five(2000, within: 100, .settling)))
    #expect(settling.verdict == .inconclusive && !settling.isUndecided)
    #expect(settling.reason == .aboveLimitWhileSettling)
    #expect(result(five(500, within: 100, .settling))?.verdict == .pass)
  }

  @Test("Repetitions that agree decide what a single one could not")
  func agreement() {
    let wide = (0..<10).map { Growth(slope: 100 + Double($0), low: -9000, high: 9000, kind: .level) }
    #expect(result(wide)?.verdict == .pass)
    #expect(result(wide, limit: .size(Bytes(50)))?.verdict == .regression)
    #expect(result(Array(wide.prefix(4)), limit: .size(Bytes(50)))?.verdict == .inconclusive)
  }

  @Test("Growth without an interval is compared with its limit directly")
  func withoutInterval() {
    func metric(_ slope: Double) -> MetricResult? {
      Given.measurements(
        [.growth: [slope]],
        gate: Gate(rules: [GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1))])
      ).judged(against: .missing).metrics.first
    }
    #expect(metric(1024)?.verdict == .pass && metric(1024)?.reason == nil)
    #expect(metric(1025)?.verdict == .regression && metric(1025)?.reason == .aboveLimit(atLeastBy: nil))
  }
}
