import GateCore

/// What a supervisor reports.
enum SupervisorEvent: Sendable, Equatable {
  case started(Int32, at: MonotonicTime)
  /// The program was not started, for the `errno` of the stage.
  case failed(LaunchError.Stage, code: Int32)
  case ended(Int32, WaitStatus, at: MonotonicTime)
  /// A process that could not be killed.
  case survivor(Int32)
  /// Nothing is left but what was reported as a survivor.
  case done
  case traced(TraceEvent)
}
