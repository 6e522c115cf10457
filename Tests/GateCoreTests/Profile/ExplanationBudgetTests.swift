import GateCore
import Testing

@Suite("The time for explaining")
struct ExplanationBudgetTests {
  private func candidates(_ seconds: [Int64], rule: ExplainRule = .auto) -> [ExplanationBudget.Candidate] {
    seconds.map { ExplanationBudget.Candidate(rule: rule, repetition: .seconds($0)) }
  }

  @Test(
    "It is that of the check's own repetitions, and each scenario gets one repetition before any gets more",
    arguments: [
      // An estimate is 1.5 times the repetition and 0.3 s.
      (5, [1], 3), (5, [6], 1), (5, [7], 0), (5, [1, 1, 1, 1, 1], 1), (5, [3, 1, 1], 1), (5, [9, 1], 0),
      (60, [10], 3), (60, [10, 10], 2), (60, [10, 10, 10], 1),
    ])
  func shared(measured: Int64, repetitions: [Int64], count: Int) {
    let budget = ExplanationBudget(measured: .seconds(measured))
    #expect(budget.repetitions(ofFirst: candidates(repetitions)[...]) == count)
  }

  @Test("A time in the project file replaces it, and `always` needs none")
  func rules() {
    let budget = ExplanationBudget(measured: .seconds(60))
    #expect(budget.repetitions(ofFirst: candidates([10], rule: .within(.seconds(16)))[...]) == 1)
    #expect(budget.repetitions(ofFirst: candidates([10], rule: .within(.seconds(15)))[...]) == 0)
    #expect(budget.repetitions(ofFirst: candidates([1000], rule: .always)[...]) == 3)
    #expect(budget.repetitions(ofFirst: candidates([1], rule: .off)[...]) == 0)
    #expect(budget.left(under: .always) == nil && budget.left(under: .auto) == .seconds(60))
  }

  @Test("What was seen corrects the estimates, and what is asked for in any case is not part of the time")
  func corrected() throws {
    var budget = ExplanationBudget(measured: .seconds(60))
    let first = candidates([10])[0]
    budget.note(2, of: first, took: .seconds(50))
    #expect(budget.left(under: .auto) == .seconds(10))
    #expect(abs(budget.estimate(of: first) / Duration.seconds(25) - 1) < 0.001)
    #expect(budget.repetitions(ofFirst: candidates([10])[...]) == 0)
    #expect(budget.repetitions(ofFirst: candidates([6])[...]) == 1, "it fits if it is not as slow as the one before")
    #expect(budget.repetitions(ofFirst: candidates([6, 1])[...]) == 0, "another one surely fits")
    budget.note(1, of: candidates([10], rule: .always)[0], took: .seconds(500))
    #expect(budget.left(under: .auto) == .seconds(10))
  }
}
