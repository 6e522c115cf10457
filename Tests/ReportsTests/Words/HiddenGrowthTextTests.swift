import GateCore
import Testing

@testable import GateApplication

@Suite("What a passing check would not have seen")
struct HiddenGrowthTextTests {
  @Test(
    "Each reason for hidden growth has its own advice",
    arguments: [
      (.warmup, "growth still slows down; send warm-up requests before `repeat`, or more iterations"),
      (.level, "memory grows in each iteration, here or in the baseline; more iterations show whether that ends"),
      (.fewIterations, "50 iterations judged; 400 in all show smaller leaks"),
      (.garbage, "50 iterations judged, and the collector may reuse garbage; 400 in all show smaller leaks"),
      (.noise, "equal repetitions differ by as much; more iterations show smaller leaks"),
      (.notJudged, "growth is judged with 10 iterations or more, and there are 50"),
    ] as [(HiddenGrowth.Cause, String)])
  func text(cause: HiddenGrowth.Cause, advice: String) {
    let text = HiddenGrowth(cause, upTo: 2048, iterations: 50).displayText.replacing("\u{a0}", with: " ")
    #expect(text == "a leak of up to 2 KiB/iteration cannot be seen here: \(advice)")
  }

  private func passing(_ name: String, hides bytes: Double?) -> ScenarioResult {
    var scenario = Fixture.passing(name)
    if let bytes { scenario.notes = [.hiddenGrowth(growth: HiddenGrowth(.noise, upTo: bytes, iterations: 50))] }
    return scenario
  }

  private func summary(_ scenarios: [ScenarioResult]) -> String {
    SummaryReport.text(
      Fixture.result(scenarios), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .pass)
    )
    .replacing("\u{a0}", with: " ")
  }

  @Test("A pass has one line on hidden growth, also of many scenarios, the most first")
  func oneLine() {
    #expect(!summary([passing("a", hides: nil)]).contains("leak"))
    let one = summary([passing("a", hides: 2048), passing("b", hides: nil)])
    #expect(one.contains("note: a: a leak of up to 2 KiB/iteration cannot be seen here: equal repetitions differ"))
    let many = summary((1...5).map { passing("s\($0)", hides: 1024 * Double($0)) })
    #expect(
      many.contains(
        "note: leaks of up to this much per iteration cannot be seen here: s5 5 KiB, s4 4 KiB, s3 3 KiB and 2 others;"))
    #expect(many.split(separator: "\n").count { $0.contains("cannot be seen") } == 1)
  }

  @Test("The values of one are in the singular", arguments: [(1, "1 item"), (2, "2 items"), (0.5, "0.5 items")])
  func singular(value: Double, text: String) {
    #expect(MetricUnit.text(of: value, unit: "items") == text)
    #expect(MetricUnit.text(of: 1, unit: "requests/s") == "1 requests/s")
  }
}
