import GateCore

extension [Scenario] {
  /// Throws an error that begins with the reason, such as `selfcheck injects memory with`, unless all can be traced.
  func requireTracing(by measurer: any Measurer, because reason: String) throws(RunnerError) {
    let diagnostics = compactMap { $0.diagnosticWithoutTracing(by: measurer, because: reason) }
    guard diagnostics.isEmpty else { throw RunnerError(diagnostics) }
  }
}

extension Scenario {
  /// The error if the target runs already: it begins with what a command does at the start of one.
  func diagnosticIfRunning(because reason: String) -> Diagnostic? {
    guard target.running != nil else { return nil }
    return Diagnostic(
      place: place?.description,
      problem: "\(name): \(reason) at the start of a target, and this one is not started by Highwater",
      hint: "leave this scenario out")
  }

  /// The error if this scenario cannot be traced; nil if it can.
  fileprivate func diagnosticWithoutTracing(by measurer: any Measurer, because reason: String) -> Diagnostic? {
    if let running = diagnosticIfRunning(because: "\(reason) ptrace") { return running }
    let method = MeasurementMethod(rawValue: measurer.fingerprint(for: self).measurement)
    guard method?.isTraced != true else { return nil }
    let problem = "\(name): \(reason) ptrace"
    guard isolation.tracer != .off else {
      return Diagnostic(
        place: place?.description, problem: "\(problem), and the scenario has `tracer: off`",
        hint: "leave this scenario out, or remove `tracer: off`")
    }
    // Notes are of what a scenario goes without, so there is none with `tracer: on`.
    var asking = self
    asking.isolation.tracer = .auto
    let barriers = measurer.notes(on: asking).compactMap {
      if case .noTracing(let barrier) = $0 { barrier } else { nil }
    }
    let barrier = barriers.first ?? .unknown
    return Diagnostic(
      place: place?.description, problem: "\(problem), which is not permitted here (\(barrier.causeText))",
      hint: "\(barrier.remedyText); `highwater doctor` reports what this machine allows")
  }
}
