/// What a machine permits the profiler to do.
package struct ProfilerLimits: Sendable, Equatable {
  /// Whether page faults can stop a target (perf_event_open(2)); without it only sampled blocks have stacks.
  package var canStopAtFaults: Bool
  /// The loader's message about the library for call stacks; without it they are followed by frame pointers alone.
  package var missingLibrary: String?

  package init(canStopAtFaults: Bool = true, missingLibrary: String? = nil) {
    self.canStopAtFaults = canStopAtFaults
    self.missingLibrary = missingLibrary
  }
}
