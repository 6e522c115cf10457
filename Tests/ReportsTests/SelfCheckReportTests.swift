import GateCore
import Testing

@testable import GateApplication

@Suite("The report of self-checks")
struct SelfCheckReportTests {
  /// Judges values in MiB against those of the unchanged program, which are 20 MiB.
  private static func check(
    _ name: String,
    _ mebibytes: [Double],
    injecting amount: InjectedAmount = .share(Percent(5)),
    gate: [GateRule] = [GateRule(metric: .peakRSS, tolerance: .automatic)],
    failure: Failure? = nil,
    notes: [Note] = [],
    as mutation: Mutation = .held,
    state: InjectionState = .injected
  ) -> ScenarioSelfCheck {
    func measured(_ values: [Double]) -> ScenarioMeasurement {
      let repetitions = values.map { value in
        RepetitionResult(
          end: End(.exited, code: 0), duration: .seconds(1), processes: 1, metrics: [.peakRSS: value * 1_048_576])
      }
      return ScenarioMeasurement(
        name: ScenarioName(name), environment: Fixture.environment, gate: Gate(rules: gate), repetitions: repetitions)
    }
    let unchanged = measured([20, 20, 20, 20, 20]).judged(against: .missing, allowsMissingBaseline: true)
    var changed = measured(mebibytes)
    (changed.failure, changed.notes) = (failure, notes)
    let result = changed.judged(against: .baseline(Baseline(of: unchanged)), allowsMissingBaseline: true)
    return ScenarioSelfCheck(
      result, unchanged: unchanged, injecting: amount,
      of: amount.bytes(ofPeak: .mebibytes(20), pageSize: 4096), as: mutation, state: state)
  }

  private static let checks: [ScenarioSelfCheck] = [
    check("found", [21, 21, 21, 21, 21]),
    check("quiet", [20, 20, 20, 20, 20], injecting: .size(.zero)),
    check("allowed", [20.1, 20.1, 20.1, 20.1, 20.1], injecting: .size(.kibibytes(100))),
    check("warned", [21, 21, 21, 21, 21], gate: [GateRule(metric: .peakRSS, tolerance: .automatic, severity: .warn)]),
    check(
      "missed", [20, 20, 20, 20, 20],
      notes: [.recording(note: .ballastMissing(command: "old\u{1b}", code: 8), count: 5, total: 5)]),
    check(
      "unreadable", [20, 20, 20, 20, 20],
      notes: [.recording(note: .ballastMissing(command: "private", code: 5), count: 5, total: 5)]),
    check("alarm", [24, 24, 24, 24, 24], injecting: .share(Percent(0))),
    check("noisy", [21, 19.4, 20, 21.1, 20.5]),
    check("leaking", [21, 21, 21, 21, 21], as: .leak),
    check("workers", [20, 20, 20, 20, 20], as: .worker),
    check("threadless", [20, 20, 20, 20, 20], as: .arena, state: .notInjected),
    check("static", [20, 20, 20, 20, 20], as: .leak, state: .notLoaded),
    check("crash", [8], failure: Fixture.failure(of: End(.exited, code: 3), output: "no room\n")),
  ]

  private func text(_ checks: [ScenarioSelfCheck], _ detail: SummaryContext.Detail = .normal) -> String {
    let result = SelfCheckResult(run: Fixture.run, checks: checks)
    let context = SummaryContext(detail: detail, exitCode: result.verdict.exitCode)
    return SelfCheckReport.text(result, style: TerminalStyle(), context: context)
  }

  @Test("Each outcome says what was injected and found, and what to do")
  func golden() throws {
    #expect(Set(Self.checks.map(\.outcome)) == Set(ScenarioSelfCheck.Outcome.allCases))
    try Golden.expect(text(Self.checks), "selfcheck.txt")
  }

  @Test("A quiet report has only what is wrong")
  func quiet() {
    #expect(text(Array(Self.checks.prefix(2)), .quiet) == "highwater: the gate works in 2 of 2 scenarios\n")
    #expect(text(Self.checks, .quiet).hasPrefix("✗ allowed  "))
  }
}
