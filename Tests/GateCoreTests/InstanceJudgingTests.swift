import GateCore
import Testing

@Suite("Judging living instances")
struct InstanceJudgingTests {
  private static let node = MetricName.instances(of: "server.Node")
  private static let box = MetricName.instances(of: "server.Box<Swift.String, Any>")

  private func judged(
    _ readings: [[String: Int]], against base: [MetricName: [Double]], _ tolerance: Tolerance = .standard(of: node)
  ) -> ScenarioResult {
    let gate = Gate(rules: [GateRule(metric: Self.node, tolerance: tolerance)])
    var measured = Given.measurements([.peakRSS: [1, 1, 1, 1, 1]], gate: gate)
    measured.instances = InstanceCounts(readings.map { InstanceReading(highest: $0) }, for: gate)
    return measured.judged(against: .baseline(Given.baseline(base.merging([.peakRSS: [1, 1, 1, 1, 1]]) { $1 })))
  }

  @Test(
    "The least of three counts decides; the larger of 20 % and 50 is allowed",
    arguments: [
      ([119, 119, 119], .pass), ([150, 400, 400], .pass), ([151, 151, 160], .regression), ([40, 50, 50], .improved),
    ] as [([Int], Verdict)])
  func rise(counts: [Int], verdict: Verdict) throws {
    for tolerance in [Tolerance.standard(of: Self.node), .automatic] {
      let result = judged(counts.map { ["server.Node": $0] }, against: [Self.node: [100, 100, 120]], tolerance)
      let metric = try #require(result.metrics.first)
      #expect(metric.verdict == verdict && metric.allowed == 50 && metric.unit == "instances")
      #expect(result.notes.isEmpty, "a comparison by size is no lack of values")
    }
  }

  @Test("A class that the baseline lacks had none, if it has others")
  func new() throws {
    let result = judged([["server.Node": 60]], against: [Self.box: [70]])
    #expect(result.verdict == .regression && result.metrics.first?.baseline?.median == 0)
    let uncounted = judged([["server.Node": 60]], against: [:])
    #expect(uncounted.metrics.first?.reason == .notInBaseline)
  }

  @Test("A class without a rule that gains 60 instances is a note, and one that gains 40, or vanishes, is none")
  func otherClasses() {
    let rule = ["server.Node": 100]
    for (count, base, isNoted) in [(60, nil, true), (160, 100.0, true), (140, 100, false), (0, 100, false)] {
      let readings = (0..<3).map { _ in rule.merging([Self.box.reportedName: count]) { $1 } }
      var baseline: [MetricName: [Double]] = [Self.node: [100]]
      baseline[Self.box] = base.map { [$0] }
      let rise = Rise(metric: Self.box, unit: "instances", before: base ?? 0, after: Double(count))
      #expect(judged(readings, against: baseline).notes == (isNoted ? [.ungatedRises(rises: [rise])] : []))
    }
  }

  @Test("A class without instances on both sides is unavailable, with the class that was probably meant")
  func unknownClass() {
    let result = judged([["server.Nodes": 100]], against: [:])
    let others = ReportedNames(["server.Nodes"], missing: "server.Node")
    #expect(result.metrics.first?.reason == .unavailable(cause: .noInstances(others: others)))
    #expect(others.nearest == "server.Nodes")
  }

  @Test("Instances are in a new baseline, and do not count as repetitions of it")
  func baseline() {
    let result = judged([["server.Node": 100], ["server.Node": 90]], against: [Self.node: [100]])
    let baseline = Baseline(of: result)
    #expect(baseline.metrics[Self.node] == [100, 90] && baseline.repetitionCount == 5)
    #expect(ScenarioMeasurement(of: baseline).instances == result.instances)
    #expect(ScenarioMeasurement(of: baseline).repetitions.allSatisfy { $0.metrics[Self.node] == nil })
  }

  @Test("Of hundreds of classes only those of the gate and the hundred largest are kept, and no invalid names")
  func bounds() {
    let gate = Gate(rules: [GateRule(metric: Self.node, tolerance: .automatic)])
    var highest = Dictionary(uniqueKeysWithValues: (0..<500).map { ("class.\($0)", $0) })
    highest.merge(["server.Node": 0, "two\nlines": 900, String(repeating: "n", count: 381): 900]) { $1 }
    let counts = InstanceCounts([InstanceReading(highest: highest)], for: gate)
    #expect(counts.metrics.count == 101 && counts.least(of: Self.node) == 0)
    #expect(counts.metrics.values.flatMap(\.self).filter { $0 > 0 }.min() == 400)
    #expect(MetricName(parsing: Self.box.text) == Self.box && Self.box.reportedName == "server.Box<Swift.String, Any>")
  }
}
