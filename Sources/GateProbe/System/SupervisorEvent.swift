import GateCore

/// An event that a supervisor reports.
enum SupervisorEvent: Sendable, Equatable {
  case started(Int32, at: MonotonicTime)
  /// The start failed at the stage, with this `errno`.
  case failed(LaunchError.Stage, code: Int32)
  /// `highest` is as in ``TraceEvent``.
  case ended(Int32, WaitStatus, highest: Bytes, at: MonotonicTime)
  /// A process that could not be killed.
  case survivor(Int32)
  /// A process that ran already has ended, with an unknown status.
  case gone(Int32, at: MonotonicTime)
  /// No process is left except the reported survivors.
  case done
  case traced(TraceEvent)
}
