extension Scenario {
  /// Whether this end of the target is expected.
  ///
  /// Without `expect`, a target must exit with code 0 or end by the signal that requested its stop. No end is accepted
  /// if the OOM killer killed a process of the tree.
  package func accepts(_ end: End) -> Bool {
    guard end.oomKills == 0 else { return false }
    switch end.kind {
    case .running: return true
    case .exited:
      return (expect?.exits ?? [0]).contains(end.code ?? -1)
    case .stopped:
      // With both, the exit code names the signal.
      guard let expect else { return end.code ?? 0 == 0 || end.signal != nil }
      guard end.code != nil || end.signal != nil else { return true }
      return end.code.map(expect.exits.contains) == true || end.signal.map(expect.signals.contains) == true
    case .trap, .abort, .crash, .signaled, .killed:
      return end.signal.map { expect?.signals.contains($0) ?? false } ?? false
    case .oom, .allocationFailure, .timeout, .startFailed, .unknown:
      return false
    }
  }
}
