import FoundationEssentials
import GateCore

/// Injects a known amount of memory into the target of each scenario, and checks that its gate finds just that.
struct SelfCheck {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []
  var amount = InjectedAmount.automatic
  /// Each is injected in repetitions of its own.
  var mutations: [Mutation] = [.held]

  /// Runs the scenarios and prints what was found; baselines, history and the last result are unchanged.
  ///
  /// - Returns: `pass`, `regression` if a gate did not find what was injected or found something else, or `failed` or
  ///   `inconclusive`.
  /// - Throws: `DiagnosticError` for bad input.
  func run(in invocation: Invocation) throws -> ExitCode {
    func check(_ scenarios: [Scenario]) throws {
      if amount.isZero || !mutations.contains(.held) { return }
      try scenarios.requireTracing(by: invocation.measurer, because: "selfcheck injects memory with")
    }
    return try options.study(selection, areStarted: true, in: invocation, checking: check) { try study($0, invocation) }
  }

  private func study(_ studied: StudiedProject, _ invocation: Invocation) throws -> ExitCode {
    let (project, artifacts) = (studied.project, studied.artifacts)
    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    var selfCheckRun = SelfCheckRun(amount, as: mutations, rule: project.environment, artifacts.selfCheck, invocation)
    defer { invocation.console.endProgress() }
    guard let checks = try selfCheckRun.checks(of: studied.scenarios), !invocation.isInterrupted else {
      return invocation.interruptedExit()
    }
    run.duration = ContinuousClock.now - begin
    let code = try report(SelfCheckResult(run: run, checks: checks), artifacts.selfCheck, invocation)
    guard let failure = selfCheckRun.writeFailure else { return code }
    invocation.console.printError(failure)
    return code == .pass ? .failed : code
  }

  private func report(
    _ result: SelfCheckResult,
    _ artifacts: ArtifactsFolder,
    _ invocation: Invocation
  ) throws -> ExitCode {
    invocation.console.endProgress()
    var context = SummaryContext(exitCode: result.verdict.exitCode)
    context.detail = invocation.console.detail
    context.outputs = artifacts.outputs(ofFailed: result.checks.map(\.result)).mapValues(invocation.shown)
    invocation.console.report(besides: options) { SelfCheckReport.text(result, style: $0, context: context) }
    for file in options.reportFiles { try file.write(SelfCheckFile.encode(result, words: .reports), in: invocation) }
    return context.exitCode
  }
}

/// Runs scenarios as they are, and then with the injected memory.
private struct SelfCheckRun {
  let amount: InjectedAmount
  let mutations: [Mutation]
  let rule: EnvironmentRule
  let artifacts: ArtifactsFolder
  let measurer: any Measurer
  let showProgress: @Sendable (Progress) -> Void
  /// The first recording that could not be written.
  private(set) var writeFailure: FileError?

  init(
    _ amount: InjectedAmount, as mutations: [Mutation], rule: EnvironmentRule, _ artifacts: ArtifactsFolder,
    _ invocation: Invocation
  ) {
    (self.amount, self.mutations, self.rule, self.artifacts) = (amount, mutations, rule, artifacts)
    (measurer, showProgress) = (invocation.measurer, invocation.console.show)
  }

  /// Checks one scenario after the other; nil after an interruption.
  mutating func checks(of scenarios: [Scenario]) throws(FileError) -> [ScenarioSelfCheck]? {
    var checks: [ScenarioSelfCheck] = []
    for (index, scenario) in scenarios.enumerated() {
      showProgress(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      guard let found = try self.checks(of: scenario) else { return nil }
      checks += found
    }
    return checks
  }

  /// The first repetitions are of the unchanged program, whose values and noise determine the amount.
  private mutating func checks(of scenario: Scenario) throws(FileError) -> [ScenarioSelfCheck]? {
    var scenario = scenario
    // The injected memory is to be found by the gate; it may not fit into the limit.
    scenario.limit = nil
    var unchanged = try run(of: scenario, into: artifacts.unchanged)
    let count = scenario.repetitions.plan.min
    guard unchanged.run(to: count, of: count) else { return nil }
    var checks: [ScenarioSelfCheck] = []
    if mutations.contains(.held) {
      guard let check = try check(scenario, .held, against: &unchanged) else { return nil }
      checks.append(check)
    }
    guard mutations != [.held] else { return checks }
    // The library and its thread need memory themselves.
    var idle = scenario
    idle.target.injection = unchanged.measurement.injection(.leak, of: .zero)
    var control = try run(of: idle, into: artifacts.unchanged)
    guard control.run(to: count, of: count) else { return nil }
    for mutation in mutations where mutation != .held {
      guard let check = try check(scenario, mutation, against: &control) else { return nil }
      checks.append(check)
    }
    return checks
  }

  private mutating func check(
    _ scenario: Scenario, _ mutation: Mutation, against unchanged: inout ScenarioRun
  ) throws(FileError) -> ScenarioSelfCheck? {
    let injected = unchanged.measurement.injectedBytes(amount)
    var changed = scenario
    if mutation == .held {
      changed.target.ballast = injected
    } else if injected > .zero {
      changed.target.injection = unchanged.measurement.injection(mutation, of: injected)
    }
    var own = try run(of: changed, into: artifacts)
    let judging = ScenarioCheck(repetitions: nil, allowsMissingBaseline: true)
    guard let results = judging.results(of: &own, against: &unchanged) else { return nil }
    writeFailure = writeFailure ?? own.writeFailure ?? unchanged.writeFailure
    return ScenarioSelfCheck(
      results.own, unchanged: results.other, injecting: amount, of: injected, as: mutation,
      state: mutation == .held ? .injected : own.injection)
  }

  private func run(of scenario: Scenario, into folder: ArtifactsFolder) throws(FileError) -> ScenarioRun {
    try folder.prepareFolders(for: scenario.name)
    let environment = rule.environment(of: scenario, on: measurer)
    return ScenarioRun(scenario, in: environment, by: measurer, into: folder, showProgress: showProgress)
  }
}

extension ScenarioMeasurement {
  /// The injection for programs like that of the first repetition.
  fileprivate func injection(_ mutation: Mutation, of amount: Bytes) -> Injection {
    Injection(mutation, of: amount, over: repetitions.first?.duration ?? .zero, peak: firstPeak)
  }

  private var firstPeak: Bytes { repetitions.first?.metrics[.peakRSS].map(Bytes.init(clampedFrom:)) ?? .zero }

  /// What an amount is of the repetitions so far.
  fileprivate func injectedBytes(_ amount: InjectedAmount) -> Bytes {
    guard !repetitions.isEmpty else { return .zero }
    let rules = gate.rules.filter { $0.severity == .fail && $0.metric.kind.isLevel }
    let allowed = rules.compactMap { rule in
      let values = repetitions.compactMap { $0.value(of: rule.metric) }
      return values.isEmpty ? nil : rule.tolerance?.allowed(above: values, of: rule.metric)
    }
    .max()
    return amount.bytes(ofPeak: firstPeak, allowed: allowed ?? 0, pageSize: environment.fingerprint.pageSize)
  }
}

extension ArtifactsFolder {
  /// The folder for recordings and outputs of `selfcheck`, apart from those of the last check.
  fileprivate var selfCheck: ArtifactsFolder { ArtifactsFolder(path: "\(path)/selfcheck") }

  /// Those of the unchanged programs.
  fileprivate var unchanged: ArtifactsFolder { ArtifactsFolder(path: "\(path)/unchanged") }
}
