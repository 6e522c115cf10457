import GateCore
import Testing

@Suite("Judging reported values")
struct ValueJudgingTests {
  private static let entries = MetricName.value("cache.entries")

  private func measurements(
    _ values: [Double?],
    _ rule: GateRule,
    units: [String] = ["items"]
  ) -> ScenarioMeasurement {
    var measured = Given.measurements([Self.entries: values], gate: Gate(rules: [rule]))
    for index in values.indices where values[index] != nil {
      measured.repetitions[index].units[Self.entries] = units[index % units.count]
    }
    return measured
  }

  private func rule(_ relative: Percent?, _ absolute: Amount? = nil, limit: Amount? = nil) -> GateRule {
    let tolerance = relative == nil && absolute == nil ? nil : Tolerance.bounds(relative: relative, absolute: absolute)
    return GateRule(metric: Self.entries, tolerance: tolerance, limit: limit)
  }

  private func baseline(_ level: Double, unit: String = "items") -> Baseline {
    var baseline = Given.baseline([Self.entries: Array(repeating: level, count: 10)])
    baseline.units[Self.entries] = unit
    return baseline
  }

  private func judged(_ level: Double, _ rule: GateRule, beside base: Baseline?) throws -> MetricResult {
    let measured = measurements(Array(repeating: level, count: 10), rule)
    return try #require(measured.judged(against: base.map(Reference.baseline) ?? .missing).metrics.first)
  }

  @Test(
    "A rise beyond percentage and amount is a regression; the larger of both counts",
    arguments: [
      (1029, .pass), (1031, .regression), (1000, .pass), (960, .improved),
    ] as [(Double, Verdict)]
  )
  func rise(level: Double, verdict: Verdict) throws {
    let result = try judged(level, rule(Percent(3), .number(10)), beside: baseline(1000))
    #expect(result.verdict == verdict)
    #expect(result.unit == "items")
    #expect(result.allowed == 30)
  }

  @Test("The change and the allowed change are in the value's unit")
  func words() throws {
    let result = try judged(1200, rule(Percent(3)), beside: baseline(1000))
    #expect(result.reason == .rise && result.unit == "items")
    #expect(result.change?.shift == 200 && result.allowed == 30)
  }

  @Test("A limit needs no baseline", arguments: [(1000, .pass), (1001, .regression)] as [(Double, Verdict)])
  func limit(level: Double, verdict: Verdict) throws {
    #expect(try judged(level, rule(nil, limit: .number(1000)), beside: nil).verdict == verdict)
  }

  @Test("The default tolerance is 3 %, without an absolute amount")
  func standard() {
    #expect(Tolerance.standard(of: Self.entries) == .bounds(relative: Percent(3), absolute: nil))
    #expect(Tolerance.standard(of: .peakRSS) == .automatic)
    #expect(Tolerance.standard(of: .growth) == .automatic)
  }

  @Test("An automatic tolerance has no minimum in bytes")
  func automatic() {
    let values = Array(repeating: 1000.0, count: 10)
    #expect(Tolerance.automatic.allowed(above: values, of: Self.entries) == 5)
    #expect(Tolerance.automatic.allowed(above: values, of: .peakRSS) == 262_144)
  }

  @Test(
    "Amounts that do not match the value's unit are inconclusive, and the reason names them",
    arguments: [(.size(.kibibytes(64)), "64KiB"), (.time(.milliseconds(200)), "200ms")] as [(Amount, String)]
  )
  func amountsDoNotFit(amount: Amount, spelled: String) throws {
    #expect(amount.spelled == spelled)
    for rule in [rule(Percent(3), amount), rule(nil, limit: amount)] {
      let result = try judged(1000, rule, beside: baseline(1000))
      #expect(result.verdict == .inconclusive)
      #expect(result.reason == .wrongUnitInGate(amount: amount, reported: "items"))
    }
  }

  @Test(
    "An amount only matches values of its own kind",
    arguments: [
      (.size(.zero), ["bytes", "bytes/iteration", "bytes/second"], ["seconds", "items", "bytesize"]),
      (.time(.zero), ["seconds"], ["bytes", "items", "second-hands"]),
      (.number(1), ["items", "%"], ["bytes", "seconds", ""]),
    ] as [(Amount, [String], [String])]
  )
  func fits(amount: Amount, fitting: [String], others: [String]) {
    #expect(fitting.allSatisfy(amount.fits))
    #expect(!others.contains(where: amount.fits))
  }

  @Test("A unit that differs from the baseline's is inconclusive until approved")
  func changedUnit() throws {
    let result = try judged(1000, rule(Percent(3)), beside: baseline(1000, unit: "bytes"))
    #expect(result.verdict == .inconclusive)
    #expect(result.reason == .otherUnit(baseline: "bytes", current: "items"))
  }

  @Test("Repetitions with different units are inconclusive")
  func mixedUnits() throws {
    let measured = measurements([1, 1, 1, 1], rule(Percent(3)), units: ["items", "bytes"])
    let result = try #require(measured.judged(against: .baseline(baseline(1))).metrics.first)
    #expect(result.verdict == .inconclusive)
    #expect(result.reason == .mixedUnits(units: ["bytes", "items"]))
  }

  @Test("A gated value that few or no repetitions have is inconclusive", arguments: 0...1)
  func missing(count: Int) throws {
    var measured = Given.measurements([.peakRSS: [1, 1]], gate: Gate(rules: [rule(Percent(3))]))
    for index in 0..<count { measured.repetitions[index].metrics[Self.entries] = 1 }
    let result = try #require(measured.judged(against: .baseline(baseline(1))).metrics.first)
    #expect(result.verdict == .inconclusive && result.isUndecided == (count > 0))
    #expect(result.reason == .unavailable(cause: .notReported(in: count, of: 2)))
  }

  @Test("If the target reported only other values, they are named, at most eight, with the nearest")
  func otherValues() throws {
    let names = (1...9).map { "value-\($0)" } + ["cache.entires"]
    let metrics = Dictionary(uniqueKeysWithValues: names.map { (MetricName.value($0), [1.0, 1] as [Double?]) })
    let measured = Given.measurements(metrics, gate: Gate(rules: [rule(Percent(3))]))
    let reason = try #require(measured.judged(against: .missing).metrics.first?.reason)
    let reported = ReportedNames(Set(names), missing: "cache.entries")
    #expect(reason == .unavailable(cause: .otherValuesReported(reported: reported)))
    #expect(reported.nearest == "cache.entires" && reported.count == 10)
    #expect(reported.names == ["cache.entires"] + (1...7).map { "value-\($0)" })
  }

  @Test("A baseline has the units of its values, and so does a result made of it")
  func baselineUnits() {
    let measured = measurements([5, 5, 5], rule(Percent(3)))
    let approved = Baseline(of: measured.judged(against: .missing), approval: Given.approval)
    #expect(approved.units == [Self.entries: "items"])
    #expect(approved.unit(of: Self.entries) == "items" && approved.unit(of: .peakRSS) == "bytes")
    #expect(ScenarioMeasurement(of: approved).repetitions.map(\.units) == Array(repeating: approved.units, count: 3))
  }

  @Test("Values that rise a little with each approval have crept")
  func creep() throws {
    let gate = Gate(rules: [rule(Percent(3))])
    var last = baseline(1000)
    for step in 1...4 {
      var next = baseline(1000 + Double(step) * 20)
      next.continueAnchors(of: last, gate: gate)
      last = next
    }
    let creep = try #require(last.creep(under: gate).first)
    #expect(creep.metric == Self.entries && creep.unit == "items")
    #expect(creep.rise == 80 && creep.anchor.level == 1000)
  }

  @Test(
    "A metric name is `value.` followed by a plain name",
    arguments: [
      ("value.cache.entries", true), ("value.p99", true), ("value.", false), ("value.-x", false), ("values.x", false),
      ("value.a b", false), ("value." + String(repeating: "n", count: 101), false),
    ]
  )
  func names(text: String, isMetric: Bool) {
    #expect((MetricName(parsing: text) != nil) == isMetric)
  }

  @Test(
    "Reported values are printed with about four digits",
    arguments: [
      (17, "items", "17 items"), (0.125, "items", "0.125 items"), (1234.56, "items", "1234.6 items"),
      (12345.6, "items", "12346 items"), (-2.5, "%", "-2.5 %"), (3, "", "3"), (0, "seconds", "0 s"),
      (0.0025, "seconds", "2.5 ms"), (0.0000125, "seconds", "0.0125 ms"), (90, "seconds", "90 s"),
      (-0.25, "seconds", "-250 ms"), (1_572_864, "bytes", "1.5 MiB"),
    ] as [(Double, String, String)]
  )
  func shown(value: Double, unit: String, text: String) {
    #expect(MetricUnit.text(of: value, unit: unit) == text)
  }
}
