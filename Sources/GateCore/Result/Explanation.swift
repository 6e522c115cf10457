/// What `explain`, or a check after a regression, found for one scenario.
package struct Explanation: Sendable, Equatable {
  package var scenario: ScenarioName
  /// nil if no repetition has a profile.
  package var comparison: ProfileComparison?
  /// All processes of this build, with which later ones can be compared; nil if no repetition has a profile.
  package var build: ProfiledBuild?
  /// Of the compared process the repetition with the median of the anonymous memory.
  package var profile: MemoryProfile?
  /// Why there is no profile, or not of all repetitions.
  package var obstacle: ExplanationObstacle?
  package var limits = ProfilerLimits()
  /// How the code differs from that of the other build's commit; nil if that is unknown.
  package var changes: CodeChanges?

  package init(scenario: ScenarioName, comparison: ProfileComparison? = nil, obstacle: ExplanationObstacle? = nil) {
    (self.scenario, self.comparison, self.obstacle) = (scenario, comparison, obstacle)
  }
}

/// Why a rise is not explained.
package enum ExplanationObstacle: Sendable, Hashable, Codable {
  /// The approved build, of this commit, has no profile yet; `builds` says whether the project file tells how to build it.
  case noApprovedProfile(commit: String?, builds: Bool)
  /// Targets cannot be traced here.
  case noTracing
  /// The scenario forbids tracing.
  case tracingIsOff
  /// The target is not started by the check, and the profiler has to be there when a program begins.
  case startedElsewhere
  /// A profiled repetition would take longer than what is left of the time that the check may take for all.
  case overBudget(estimate: Duration, left: Duration, rise: ExplainedRise)
  /// The time was over in the first profiled repetition: what it had seen until then is all that is known.
  case ranOut(after: Duration, rise: ExplainedRise)
  /// A profiled repetition failed.
  case failed(failure: Failure)
  /// The profiler saw no memory at its peak.
  case noSnapshot
  /// The run was interrupted meanwhile, after its verdict.
  case interrupted
}

/// What explains the rise of a regression, as the history stores it.
package struct RiseExplanation: Sendable, Hashable, Codable {
  /// A run of a check.
  package struct Run: Sendable, Hashable, Codable {
    package var id: String
    package var commit: String?

    package init(id: String, commit: String?) {
      (self.id, self.commit) = (id, commit)
    }
  }

  package var rise: ExplainedRise
  package var finding: CulpritFinding
  /// The first run on the branch, since the baseline was approved, that named the same function; nil if this run is the
  /// first.
  package var firstNamed: Run?
  /// How the code differs from that of the build before; nil if that is unknown, or if no call stack is.
  package var changes: CodeChanges?

  package init(_ rise: ExplainedRise, finding: CulpritFinding, firstNamed: Run? = nil) {
    (self.rise, self.finding, self.firstNamed) = (rise, finding, firstNamed)
  }
}
