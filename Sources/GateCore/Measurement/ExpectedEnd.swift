extension Scenario {
  /// Whether a target that ended in this way did what was expected of it.
  ///
  /// Without an `expect` a target must end with exit code 0, or by the signal that asked it to stop. An end is never
  /// sound where a process of the tree was killed for want of memory, whatever the main process made of that.
  package func accepts(_ end: End) -> Bool {
    guard end.oomKills == 0 else { return false }
    switch end.kind {
    case .exited:
      return (expect?.exits ?? [0]).contains(end.code ?? -1)
    case .stopped:
      guard let expect else { return end.code ?? 0 == 0 }
      return end.code.map(expect.exits.contains) ?? end.signal.map(expect.signals.contains) ?? true
    case .trap, .abort, .crash, .signaled, .killed:
      return end.signal.map { expect?.signals.contains($0) ?? false } ?? false
    case .oom, .allocationFailure, .timeout, .startFailed, .unknown:
      return false
    }
  }
}
