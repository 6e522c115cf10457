/// What `explain` found for one scenario.
package struct Explanation: Sendable, Equatable {
  package var scenario: ScenarioName
  /// nil if no repetition has a profile.
  package var comparison: ProfileComparison?
  /// The repetition with the median of the anonymous memory.
  package var profile: MemoryProfile?
  /// Why the scenario has no profile, or not all repetitions.
  package var failure: Failure?
  package var limits = ProfilerLimits()

  package init(scenario: ScenarioName, comparison: ProfileComparison? = nil, failure: Failure? = nil) {
    (self.scenario, self.comparison, self.failure) = (scenario, comparison, failure)
  }
}
