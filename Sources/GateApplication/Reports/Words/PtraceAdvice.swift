import GateCore

/// The hint for a target that cannot use ptrace: only one process can trace another (ptrace(2)), and here that is
/// Highwater.
enum PtraceAdvice {
  private static let reason = "cannot use ptrace while Highwater traces it"

  static let text =
    "\(reason); to measure it by sampling, write `isolation: {tracer:\(Format.space)off}` in the scenario, or "
    + Format.glued("`record --tracer off`")

  /// For `explain`, which always traces.
  static let explainText = "\(reason), so it cannot be profiled"

  /// Whether the scenario failed and its target printed that it could not use ptrace.
  static func isNeeded(by scenario: ScenarioResult) -> Bool {
    MeasurementMethod(rawValue: scenario.environment.fingerprint.measurement)?.isTraced == true
      && scenario.failure.map(isNeeded) == true
  }

  /// Whether a traced target printed that it could not use ptrace.
  static func isNeeded(by failure: Failure) -> Bool {
    failure.output.split(whereSeparator: \.isNewline).contains(where: reportsTracer)
  }

  /// Whether the line is a message of LeakSanitizer, strace, gdb, lldb or delve about missing ptrace permission.
  private static func reportsTracer(_ line: Substring) -> Bool {
    let line = line.lowercased()
    return line.contains("does not work under ptrace")  // text from outside: LeakSanitizer
      || line.contains("could not attach to p")  // text from outside: delve
      || line.contains("is already traced by process")  // text from outside: gdb
      || line.contains("not permitted")  // text from outside: strace, gdb, lldb
        && (line.contains("ptrace") || line.contains("attach failed"))
  }
}
