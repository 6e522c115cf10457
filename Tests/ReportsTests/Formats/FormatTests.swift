import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Reports for CI systems")
struct FormatTests {
  private let result = Fixture.manyVerdicts.result
  private let context = Fixture.manyVerdicts.context
  private let attacks = Fixture.manyAttacks.result
  private let attacksContext = Fixture.manyAttacks.context

  @Test("The reports match the golden files")
  func golden() throws {
    try Golden.expect(JUnitReport.text(result, context: context), "report.junit.xml")
    try Golden.expect(TAPReport.text(result, context: context), "report.tap")
    try Golden.expect(CodeQualityReport.text(result, context: context), "report.codequality.json")
    try Golden.expect(MarkdownReport.text(result, context: context), "report.md")
    try Golden.expect(GitHubCommands.annotations(for: result, context: context), "report.github.txt")
  }

  // MARK: JUnit

  /// Python's parser of XML; the outcome of each test case.
  private static let junit = OutsideParser.python(
    """
    import xml.etree.ElementTree as tree
    root = tree.fromstring(text.encode())
    suite = root.find("testsuite")
    kinds = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for kind, count in kinds.items(): assert len(suite.findall("testcase/" + kind)) == int(suite.get(count))
    assert len(suite.findall("testcase")) == int(suite.get("tests")) == int(root.get("tests"))
    print(json.dumps([{
        "name": case.get("name"), "time": float(case.get("time")),
        "outcome": next((child.tag for child in case if child.tag in kinds), "pass"),
        "type": next((child.get("type") for child in case if child.tag in kinds), ""),
        "message": next((child.get("message") for child in case if child.tag in kinds), ""),
        "text": "".join(case.itertext()),
    } for case in suite.findall("testcase")]))
    """)

  @Test("JUnit: each scenario is a test case with the outcome of its verdict, and the counts agree")
  func junitOutcomes() throws {
    let cases = try Self.junit.objects(reading: JUnitReport.text(result, context: context))
    #expect(cases.map { $0["name"] as? String } == result.scenarios.map(\.name.text))
    #expect(
      cases.map { $0["outcome"] as? String } == [
        "pass", "failure", "pass", "error", "error", "error", "skipped", "pass", "skipped",
      ])
    let types = ["", "regression", "", "failed", "failed", "inconclusive", "no-baseline", "", "skipped"]
    #expect(cases.map { $0["type"] as? String } == types)
    #expect((cases[1]["message"] as? String)?.hasPrefix("peak_rss rose by 1.3 MiB (+5.7 %)") == true)
    #expect((cases[1]["text"] as? String)?.contains("redis-load[clients=50]") == true)
    #expect((cases[6]["message"] as? String)?.hasPrefix("no baseline for the environment linux-x86_64") == true)
    #expect(cases[0]["time"] as? Double == 6.1)
  }

  @Test("JUnit: texts with markup and control characters are text")
  func junitAttacks() throws {
    let cases = try Self.junit.objects(reading: JUnitReport.text(attacks, context: attacksContext))
    #expect(cases.count == 2)
    #expect((cases[0]["name"] as? String)?.contains("</code></details><script>alert(1)</script>") == true)
    #expect((cases[1]["text"] as? String)?.contains("</code></pre></details>") == true)
  }

  // MARK: TAP

  /// Perl's TAP::Parser; number, outcome, description and directive of each test, and the keys of its YAML.
  private static let tap = OutsideParser(command: [
    "perl", "-MTAP::Parser", "-MJSON::PP", "-e",
    """
    binmode STDIN, ":utf8"; local $/; my $parser = TAP::Parser->new({tap => <STDIN>}); my @tests;
    while (my $line = $parser->next) {
      push @tests, {number => $line->number + 0, ok => $line->is_ok ? \\1 : \\0, actual => $line->is_actual_ok ? \\1 : \\0,
        description => $line->description, directive => $line->directive} if $line->is_test;
      $tests[-1]{data} = $line->data if $line->is_yaml;
      die $line->raw if $line->is_unknown;
    }
    die join "; ", $parser->parse_errors if $parser->parse_errors;
    print encode_json \\@tests;
    """,
  ])

  @Test("TAP: each scenario is a test; what was not judged is skipped, and the rest has its values")
  func tapOutcomes() throws {
    let tests = try Self.tap.objects(reading: TAPReport.text(result, context: context))
    #expect(tests.map { $0["description"] as? String } == result.scenarios.map { "- " + $0.name.text })
    #expect(tests.map { $0["ok"] as? Bool } == [true, false, true, false, false, false, true, true, true])
    #expect(tests.map { $0["directive"] as? String == "SKIP" }.lastIndex(of: true) == 8)
    let metrics = (tests[1]["data"] as? [String: Any])?["metrics"] as? [String: [String: String]]
    #expect(metrics?["peak_rss"]?["now"] == "24379392" && metrics?["peak_rss"]?["verdict"] == "regression")
  }

  @Test("TAP: a name is neither a directive nor another line")
  func tapAttacks() throws {
    var result = attacks
    result.scenarios[1].name = ScenarioName("a # SKIP b \\# TODO\nok 3")
    let tests = try Self.tap.objects(reading: TAPReport.text(result, context: attacksContext))
    #expect(tests.count == 2 && tests.allSatisfy { $0["ok"] as? Bool == false && $0["directive"] as? String == "" })
  }

  // MARK: Code quality

  @Test("Code quality: each issue has the keys that GitLab requires, and the same fingerprint in the next run")
  func codeQuality() throws {
    func issues(_ result: RunResult) throws -> [[String: Any]] {
      let text = CodeQualityReport.text(result, context: context)
      return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }
    let first = try issues(result)
    for issue in first {
      #expect(["description", "check_name", "fingerprint"].allSatisfy { issue[$0] is String })
      #expect(["info", "minor", "major", "critical", "blocker"].contains(issue["severity"] as? String))
      let location = try #require(issue["location"] as? [String: Any])
      #expect(location["path"] is String && (location["lines"] as? [String: Int])?["begin"] ?? 0 > 3)
    }
    let fingerprints = first.map { $0["fingerprint"] as? String }
    #expect(Set(fingerprints).count == 7)
    var next = result
    next.scenarios[1].metrics[0].current?.median += 4096
    #expect(try issues(next).map { $0["fingerprint"] as? String } == fingerprints)
    let attack = CodeQualityReport.text(attacks, context: attacksContext)
    #expect(!attack.contains("##[") && attack.contains("#\\u0023["))
  }

  // MARK: OpenMetrics

  @Test("OpenMetrics: the parser of the Prometheus client reads it", arguments: [false, true])
  func openMetrics(isAttack: Bool) throws {
    let summary = isAttack ? attacks.summary : result.summary
    let families = try OutsideParser.python(
      """
      from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
      print(json.dumps([{"name": family.name, "unit": family.unit, "samples": len(family.samples)} for family in parse(text)]))
      """
    ).objects(reading: OpenMetricsReport.text(summary))
    let verdicts = try #require(families.first { $0["name"] as? String == "highwater_verdict" })
    #expect(verdicts["samples"] as? Int == summary.scenarios.count * Verdict.allCases.count)
    #expect(families.contains { $0["unit"] as? String == "bytes" })
  }

  // MARK: GitHub's commands

  @Test("Annotations: one line each, at the scenario's line, and texts cannot begin another command")
  func annotations() {
    let lines = GitHubCommands.annotations(for: attacks, context: attacksContext).split(separator: "\n")
    #expect(lines.count == 2)
    for (index, line) in lines.enumerated() {
      #expect(line.hasPrefix("::error file=ci/high%2Cwater%3A 1%25.yml,line=\(4 + index),title="))
      #expect(line.split(separator: "::", maxSplits: 1).first?.contains(":") == false, "\(line)")
    }
    let many = Fixture.result(Array(repeating: Fixture.crashed, count: 30))
    #expect(GitHubCommands.annotations(for: many, context: context).split(separator: "\n").count == 10)
  }
}
