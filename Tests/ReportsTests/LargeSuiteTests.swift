import GateCore
import Testing

@testable import GateApplication

@Suite("Reports of thousands of scenarios")
struct LargeSuiteTests {
  /// 150 scenarios that pass, one of them near its limit, and 160 that regressed.
  private static let result: RunResult = {
    let passing = (1...150).map { Fixture.passing("passing-\($0)", peak: $0 == 77 ? 12_000_000 : 24_207_360) }
    let regressed = (1...160).map { number in
      var scenario = Fixture.regressed
      scenario.name = ScenarioName("regressed-\(number)")
      return scenario
    }
    return Fixture.result(passing + regressed)
  }()

  private static func lines(_ detail: SummaryContext.Detail) -> [Substring] {
    var context = SummaryContext(exitCode: .regression)
    context.detail = detail
    return SummaryReport.text(result, style: TerminalStyle(), context: context).split(separator: "\n")
  }

  @Test("The summary shows the passing scenarios nearest to their limits, and the first blocks; it counts the others")
  func summary() {
    let lines = Self.lines(.normal)
    #expect(lines.count { $0.contains("pass  passing-") } == 20)
    #expect(lines.contains { $0.contains("passing-77 ") })
    #expect(lines.contains("and 130 others, further below their limits"))
    #expect(lines.count { $0.contains("✗ regression  regressed-") } == 50)
    #expect(lines.contains { $0.hasPrefix("also regression: regressed-51, regressed-52,") })
    #expect(lines.contains { $0.hasSuffix("regressed-150 and 10 more") })
    #expect(lines.suffix(2) == ["160 of 310 scenarios regressed", "highwater: regression"])
  }

  @Test("A verbose summary has a block of each scenario, and a quiet one the same limits as a normal one")
  func detail() {
    #expect(Self.lines(.verbose).count { $0.contains("regressed-") && $0.contains("✗ regression") } == 160)
    #expect(Self.lines(.quiet).count { $0.contains("✗ regression") } == 50)
  }

  @Test("An approval report counts the unchanged scenarios by reason")
  func approval() {
    let changes = (1...30).map { number in
      ApprovalChange(
        scenario: ScenarioName("s\(number)"), environment: "linux", path: "x",
        outcome: .unchanged(number > 5 ? .passes : .equalValues))
    }
    let text = ApprovalReport.text(changes, style: TerminalStyle(width: 120)).replacing("\u{a0}", with: " ")
    #expect(text.hasPrefix("unchanged  25 scenarios\n           each: it passes against its baseline"))
    #expect(text.contains("unchanged  5 scenarios\n           each: its baseline has the same values\n"))
    #expect(text.contains("baselines: 30 unchanged"))
  }

  @Test("The run page has the curves of the first hundred scenarios, and says so of the others")
  func runPage() {
    let scenarios = (1...103).map { number in
      var scenario = Fixture.charted
      scenario.name = ScenarioName("s\(number)")
      return scenario
    }
    let page = RunPage.text(Fixture.result(scenarios), context: SummaryContext(exitCode: .regression))
    #expect(page.ranges(of: "<figure class=\"curve\"").count == 100)
    #expect(page.ranges(of: "This page has the curves of the first 100 scenarios only.").count == 3)
    #expect(page.contains(",null,null,null]"))
  }
}
