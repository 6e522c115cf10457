/// A search for the commits that made scenarios need more memory.
package struct BisectResult: Sendable, Equatable {
  /// An end of the range, as the user named it.
  package struct End: Sendable, Hashable, Codable {
    package var revision: String
    package var commit: String

    package init(revision: String, commit: String) {
      (self.revision, self.commit) = (revision, commit)
    }
  }

  package var run: RunInfo
  package var good: End
  package var bad: End
  /// The shell command that builds a commit.
  package var build: String?
  /// The commits after the good end, up to the bad end, along the first parents.
  package var commitCount: Int
  /// The commits that were built, with those that failed to build, and apart from those of earlier runs.
  package var builds: Int
  package var scenarios: [ScenarioBisection]

  package init(
    run: RunInfo,
    good: End,
    bad: End,
    build: String?,
    commitCount: Int,
    builds: Int,
    scenarios: [ScenarioBisection]
  ) {
    (self.run, self.good, self.bad, self.build) = (run, good, bad, build)
    (self.commitCount, self.builds, self.scenarios) = (commitCount, builds, scenarios)
  }

  /// That of the first of the scenarios' in the order of the contract: failed, inconclusive, pass.
  package var exitCode: ExitCode {
    let codes = Set(scenarios.map(\.outcome.exitCode))
    return [.failed, .inconclusive].first(where: codes.contains) ?? .pass
  }
}

/// What was found for one scenario.
package struct ScenarioBisection: Sendable, Equatable {
  package var name: ScenarioName
  package var environment: EnvironmentInfo
  package var bisection: Bisection
  package var outcome: BisectionOutcome
  /// The commits by number; 0 is the good end.
  package var commits: [String]
  /// Those that are named in the answer.
  package var details: [String: CommitInfo]
  /// The number of commits of the whole range, if the history narrowed it.
  package var narrowedFrom: Int?
  /// Why an end cannot be measured.
  package var failure: EndFailure?
  /// The commit from which the branch started that the guilty commit merges; nil if that is no merge.
  package var mergeBase: String?

  /// A failure of the scenario at an end of the range.
  package struct EndFailure: Sendable, Equatable {
    package var isOfGood: Bool
    package var failure: Failure

    package init(isOfGood: Bool, _ failure: Failure) {
      (self.isOfGood, self.failure) = (isOfGood, failure)
    }
  }

  package init(
    name: ScenarioName,
    environment: EnvironmentInfo,
    bisection: Bisection,
    outcome: BisectionOutcome,
    commits: [String],
    details: [String: CommitInfo] = [:],
    narrowedFrom: Int? = nil
  ) {
    (self.name, self.environment, self.bisection, self.outcome) = (name, environment, bisection, outcome)
    (self.commits, self.details, self.narrowedFrom) = (commits, details, narrowedFrom)
  }

  /// A commit by its number.
  package func info(_ index: Int) -> CommitInfo {
    details[commits[index]] ?? CommitInfo(commit: commits[index])
  }

  /// The other metrics that rose between the ends.
  package var otherRises: [MetricResult] {
    bisection.ends.filter { $0.verdict == .regression && $0.metric != bisection.searched?.metric }
  }
}
