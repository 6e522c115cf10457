import GateCore

/// What to do for a target that cannot use ptrace, which only one process at a time can do to another (ptrace(2)): here
/// that is the gate itself.
enum PtraceAdvice {
  static let text =
    "could not use ptrace, since the gate itself traces its targets: `isolation: {tracer:\(Format.space)off}` in its "
    + "scenario has it measured by sampling"

  /// Whether the scenario failed, and its target tells that it could not use ptrace.
  static func isNeeded(by scenario: ScenarioResult) -> Bool {
    guard MeasurementMethod(rawValue: scenario.environment.fingerprint.measurement)?.isTraced == true,
      let failure = scenario.failure
    else { return false }
    let end = scenario.repetitions.last?.end
    let texts = [failure.output, failure.problemText, end?.proofText ?? "", end?.detailText ?? ""]
    return texts.contains { $0.split(whereSeparator: \.isNewline).contains(where: tellsOfTracer) }
  }

  /// Whether the line is one that LeakSanitizer, strace, gdb, lldb or delve prints where ptrace is refused.
  private static func tellsOfTracer(_ line: Substring) -> Bool {
    let line = line.lowercased()
    return line.contains("does not work under ptrace") || line.contains("could not attach to p")
      || line.contains("is already traced by process")
      || line.contains("not permitted") && (line.contains("ptrace") || line.contains("attach failed"))
  }
}
