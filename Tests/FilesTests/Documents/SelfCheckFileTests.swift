import GateCore
import Testing

@testable import GateApplication

@Suite("Self-checks as JSON")
struct SelfCheckFileTests {
  @Test("The file matches the golden file")
  func golden() throws {
    let checks = DocumentExamples.result.scenarios.map { scenario in
      ScenarioSelfCheck(scenario, unchanged: scenario, injecting: .share(Percent(5)), of: .mebibytes(1))
    }
    let result = SelfCheckResult(run: DocumentExamples.result.run, checks: checks)
    try DocumentGolden.expect(SelfCheckFile.encode(result, words: .examples), toBe: "selfcheck.json")
  }
}
