import GateCore
import Testing

@testable import GateApplication

@Suite("Rules for reported values")
struct ReportedValueRuleTests {
  private static func rule(
    _ relative: Double? = nil,
    _ absolute: Amount? = nil,
    limit: Amount? = nil,
    severity: GateRule.Severity = .fail
  ) -> GateRule {
    GateRule(
      metric: .value("cache.entries"), tolerance: .bounds(relative: relative.map { Percent($0) }, absolute: absolute),
      limit: limit, severity: severity
    )
  }

  private static func rule(
    tolerance: Tolerance?, limit: Amount?, severity: GateRule.Severity = .fail
  ) -> GateRule {
    GateRule(metric: .value("cache.entries"), tolerance: tolerance, limit: limit, severity: severity)
  }

  /// The YAML value of `value.cache.entries` and the rule that it gives.
  static let rules: [(text: String, rule: GateRule)] = [
    ("10", rule(nil, .number(10))),
    ("0", rule(nil, .number(0))),
    ("2.5", rule(nil, .number(2.5))),
    ("0.0001", rule(nil, .number(0.0001))),
    ("1000000", rule(nil, .number(1_000_000))),
    ("512KiB", rule(nil, .kibibytes(512))),
    ("200ms", rule(nil, .time(.milliseconds(200)))),
    ("1.5ms", rule(nil, .time(.microseconds(1500)))),
    ("90s", rule(nil, .time(.seconds(90)))),
    ("2m", rule(nil, .time(.seconds(120)))),
    ("0s", rule(nil, .time(.zero))),
    ("3%", rule(3)),
    ("[3%, 10]", rule(3, .number(10))),
    ("[0.5%, 0.25]", rule(0.5, .number(0.25))),
    ("[3%, 1MiB]", rule(3, .mebibytes(1))),
    ("[3%, 2s]", rule(3, .time(.seconds(2)))),
    ("auto", rule(tolerance: .automatic, limit: nil)),
    ("{limit: 1000}", rule(tolerance: nil, limit: .number(1000))),
    ("{limit: 0.125}", rule(tolerance: nil, limit: .number(0.125))),
    ("{limit: 1GiB}", rule(tolerance: nil, limit: .mebibytes(1024))),
    ("{limit: 250ms}", rule(tolerance: nil, limit: .time(.milliseconds(250)))),
    ("{tolerance: [3%, 10], limit: 1000}", rule(3, .number(10), limit: .number(1000))),
    (
      "{tolerance: auto, limit: 1h, on: warn}",
      rule(tolerance: .automatic, limit: .time(.seconds(3600)), severity: .warn)
    ),
    ("{tolerance: 3%, on: warn}", rule(3, severity: .warn)),
  ]

  @Test("A class with generic arguments has a rule, in numbers only")
  func instances() throws {
    let metric = MetricName.instances(of: "Swift._DictionaryStorage<Swift.String, Any>")
    let rule = GateRule(metric: metric, tolerance: .bounds(relative: Percent(20), absolute: .number(50)))
    #expect(try gate("\"\(metric)\": {tolerance: [20%, 50]}").rules == [rule])
    #expect(try gate("\"\(metric)\": {on: fail}").rules == [rule])
    #expect(throws: (any Error).self) { try gate("\"\(metric)\": 512KiB") }
    #expect(throws: (any Error).self) { try gate("\"instances.\": 20%") }
  }

  private func gate(_ text: String) throws -> Gate {
    let folder = try ProjectFolder(scenarioLines: "target: {shell: x}\ngate: {\(text)}")
    return try #require(try folder.load().scenarios.first).gate
  }

  @Test("A rule may be a number, a size, a time, a percentage, both, `auto` or a mapping", arguments: rules)
  func read(text: String, rule: GateRule) throws {
    #expect(try gate("value.cache.entries: \(text)") == Gate(rules: [rule]))
  }

  @Test("A rule is printed as it can be written in the file", arguments: rules)
  func spelled(text: String, rule: GateRule) throws {
    #expect(rule.spelled == "value.cache.entries: \(text)")
    #expect(try gate(rule.spelled) == Gate(rules: [rule]))
  }

  @Test(
    "The default tolerance is 3 %, without an absolute amount",
    arguments: [("off", GateRule.Severity.off), ("{on: warn}", .warn), ("{on: off}", .off)]
  )
  func standard(text: String, severity: GateRule.Severity) throws {
    #expect(try gate("value.cache.entries: \(text), spike: 8MiB").rules.first == Self.rule(3, severity: severity))
  }

  @Test("Amounts may be in any order, quoted, or spaced from their unit")
  func spellings() throws {
    let equivalent = ["[10, 3%]", "['3%', '10']", "[10.0, 3 %]", "[1e1, 3%]"]
    for text in equivalent {
      #expect(try gate("value.cache.entries: \(text)") == Gate(rules: [Self.rule(3, .number(10))]), "\(text)")
    }
    #expect(try gate("value.cache.entries: '512 KiB'") == Gate(rules: [Self.rule(nil, .kibibytes(512))]))
  }

  @Test(
    "A rule's name is `value.` and the name that the target reports",
    arguments: ["x", "5xx", "a.b-c_d.E", "peak_rss", "off", "loop.Layout.pass", String(repeating: "n", count: 100)]
  )
  func names(name: String) throws {
    let rule = GateRule(metric: .value(name), tolerance: .bounds(relative: Percent(3), absolute: nil))
    #expect(try gate("value.\(name): 3%") == Gate(rules: [rule]))
  }
}
