import GateCore
import Testing

@Suite("Self-checks of a gate")
struct ScenarioSelfCheckTests {
  private static let mebibyte = 1_048_576.0

  /// Judges values against those of the unchanged program, in MiB.
  private func check(
    _ before: [Double],
    _ after: [Double],
    injecting amount: InjectedAmount,
    gate: [GateRule] = [GateRule(metric: .peakRSS, tolerance: .automatic)],
    failure: Failure? = nil
  ) -> ScenarioSelfCheck {
    func measured(_ mebibytes: [Double]) -> ScenarioMeasurement {
      Given.measurements([.peakRSS: mebibytes.map { $0 * Self.mebibyte }], gate: Gate(rules: gate))
    }
    let unchanged = measured(before).judged(against: .missing, allowsMissingBaseline: true)
    var changed = measured(after)
    changed.failure = failure
    let result = changed.judged(against: .baseline(Baseline(of: unchanged)), allowsMissingBaseline: true)
    let peak = Bytes(clampedFrom: before[0] * Self.mebibyte)
    return ScenarioSelfCheck(
      result, unchanged: unchanged, injecting: amount, of: amount.bytes(ofPeak: peak, pageSize: 4096))
  }

  private let steady = [20.0, 20, 20, 20, 20]

  private static let fivePercent = InjectedAmount.share(Percent(5))

  @Test(
    "Found, missed, undecided, or a false alarm",
    arguments: [
      ([21, 21, 21, 21, 21], fivePercent, ScenarioSelfCheck.Outcome.found, Verdict.pass),
      ([20.1, 20, 20, 20, 20.1], fivePercent, .missed, .regression),
      ([20, 20, 20, 20, 20], fivePercent, .missed, .regression),
      ([21, 19.4, 20, 21.1, 20.5], fivePercent, .inconclusive, .inconclusive),
      ([21, 21, 21, 21, 21], .size(.zero), .falseAlarm, .regression),
      ([20, 20, 20, 20, 20], .size(.zero), .quiet, .pass),
      ([18, 18, 18, 18, 18], .share(Percent(0)), .quiet, .pass),
      ([20.1, 20.1, 20.1, 20.1, 20.1], .size(.kibibytes(100)), .allowed, .regression),
    ]
  )
  func outcomes(after: [Double], amount: InjectedAmount, outcome: ScenarioSelfCheck.Outcome, verdict: Verdict) {
    let check = check(steady, after, injecting: amount)
    #expect(check.outcome == outcome)
    #expect(check.verdict == verdict)
  }

  @Test("An amount within the tolerance comes with one that would be found")
  func advice() {
    let check = check(steady, steady, injecting: .size(.kibibytes(100)))
    #expect(check.detectableAmount == .kibibytes(512))
  }

  @Test("A limit that the unchanged program exceeds, and a rule that only warns, prove nothing")
  func otherRules() {
    let limited = [GateRule(metric: .peakRSS, tolerance: .automatic, limit: .mebibytes(10))]
    #expect(
      check(steady, [20.1, 20.1, 20.1, 20.1, 20.1], injecting: Self.fivePercent, gate: limited).outcome == .missed)
    #expect(check(steady, [21, 21, 21, 21, 21], injecting: Self.fivePercent, gate: limited).outcome == .found)
    let warning = [GateRule(metric: .peakRSS, tolerance: .automatic, severity: .warn)]
    #expect(check(steady, [21, 21, 21, 21, 21], injecting: Self.fivePercent, gate: warning).outcome == .notGated)
  }

  @Test("What was not injected proves nothing, and a leak that the gate would allow is missed")
  func mutations() throws {
    let unchanged = check(steady, steady, injecting: .size(.zero)).result
    func outcome(_ mutation: Mutation, state: InjectionState) -> ScenarioSelfCheck.Outcome {
      ScenarioSelfCheck(
        unchanged, unchanged: unchanged, injecting: .automatic, of: .kibibytes(100), as: mutation,
        state: state
      ).outcome
    }
    #expect(outcome(.arena, state: .notInjected) == .notInjected)
    #expect(outcome(.leak, state: .notLoaded) == .notLoaded)
    #expect(outcome(.leak, state: .injected) == .missed && outcome(.held, state: .injected) == .allowed)
  }

  @Test("The default amount is 5 % of the peak, and at least twice what the gate allows")
  func automatic() {
    #expect(InjectedAmount.automatic.bytes(ofPeak: .mebibytes(100), allowed: 1e6, pageSize: 4096) == .mebibytes(5))
    #expect(
      InjectedAmount(parsing: "auto")?.bytes(ofPeak: .mebibytes(4), allowed: 262_144, pageSize: 4096) == .kibibytes(512)
    )
  }

  @Test("A failed target is neither found nor missed")
  func failed() {
    let failure = Failure(problem: .commandTimeout(after: .seconds(1)))
    #expect(check(steady, [21], injecting: Self.fivePercent, failure: failure).verdict == .failed)
  }

  @Test(
    "Amounts are whole pages, and nothing but shares, sizes and zero",
    arguments: [
      ("5%", 53_248), ("0", 0), ("0%", 0), ("0.0", 0), ("2MiB", 2_097_152), ("1 B", 4096), ("5", nil), ("five", nil),
      ("-1%", nil), ("", nil),
    ] as [(String, Int64?)]
  )
  func amounts(text: String, bytes: Int64?) {
    let amount = InjectedAmount(parsing: text)
    #expect(amount?.bytes(ofPeak: .mebibytes(1), pageSize: 4096).count == bytes)
    #expect(amount?.isZero == bytes.map { $0 == 0 })
  }
}
