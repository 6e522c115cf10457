import GateCore
import Testing

@Suite("Judging allocations")
struct AllocationJudgingTests {
  private static let allocations = CountMetric.allocations.name

  private func judged(
    _ readings: [AllocationReading], against before: [Double]?, by rule: GateRule
  ) throws -> MetricResult {
    var measured = Given.measurements([.peakRSS: [1, 1, 1, 1, 1]], gate: Gate(rules: [rule]))
    measured.instances = InstanceCounts()
    measured.instances?.add(readings)
    var base: [MetricName: [Double]] = [.peakRSS: [1, 1, 1, 1, 1]]
    base[rule.metric] = before
    return try #require(measured.judged(against: .baseline(Given.baseline(base))).metrics.first)
  }

  private static func rule(limit: Double? = nil, exact: Bool) -> GateRule {
    let none = Tolerance.bounds(relative: nil, absolute: .number(0))
    let tolerance = limit != nil ? nil : exact ? none : .standard(of: allocations)
    var rule = GateRule(metric: allocations, tolerance: tolerance, limit: limit.map(Amount.number))
    rule.isExact = exact
    return rule
  }

  private static func readings(_ counts: Int64...) -> [AllocationReading] {
    counts.map { AllocationReading(counts: [.allocations: $0, .allocatedBytes: 0, .liveHeap: 0]) }
  }

  @Test(
    "The least of the counts decides; an exact rule also fails with fewer",
    arguments: [
      (1001, rule(exact: true), .regression), (1000, rule(exact: true), .pass), (999, rule(exact: true), .regression),
      (1009, rule(exact: false), .pass), (1011, rule(exact: false), .regression), (980, rule(exact: false), .improved),
      (1001, rule(limit: 1000, exact: true), .regression), (1000, rule(limit: 1000, exact: true), .pass),
      (999, rule(limit: 1000, exact: true), .regression), (999, rule(limit: 1000, exact: false), .pass),
    ] as [(Int64, GateRule, Verdict)])
  func verdicts(count: Int64, rule: GateRule, verdict: Verdict) throws {
    let result = try judged(Self.readings(count + 5, count, count), against: [1000, 1000, 1003], by: rule)
    #expect(result.verdict == verdict && result.unit == "allocations")
    if count == 999, rule.isExact { #expect(result.reason == .fewer(than: 1000)) }
  }

  @Test("Bytes that were asked for are no pages: an exact rule sees a single one")
  func bytes() throws {
    let metric = CountMetric.allocatedBytes.name
    var rule = GateRule(metric: metric, tolerance: .bounds(relative: nil, absolute: .kibibytes(0)), limit: nil)
    rule.isExact = true
    let reading = AllocationReading(counts: [.allocations: 1, .allocatedBytes: 5000, .liveHeap: 0])
    let result = try judged([reading, reading, reading], against: [5000], by: rule)
    #expect(result.verdict == .pass && result.detectable == 0 && result.resolution == 0)
  }

  @Test("What was not counted is inconclusive with the reason, and a baseline without counts is named")
  func missing() throws {
    let refused = try judged([AllocationReading(refusal: .replaced)], against: [1000], by: Self.rule(exact: true))
    #expect(refused.reason == .unavailable(cause: .allocationsNotCounted(refusal: .replaced)))
    #expect(refused.verdict == .inconclusive)
    let new = try judged(Self.readings(1000), against: nil, by: Self.rule(exact: true))
    #expect(new.reason == .notInBaseline)
  }

  @Test("A rule is stored with its exactness, and spelled as it is read")
  func coding() throws {
    let rule = Self.rule(limit: 504_001, exact: true)
    #expect(rule.spelled == "allocations: {limit: 504001, exact: true}")
    #expect(Self.rule(exact: true).spelled == "allocations: {exact: true}")
  }
}
