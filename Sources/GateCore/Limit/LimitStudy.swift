/// What `limit` found for one scenario.
package struct LimitStudy: Sendable, Equatable {
  package enum Outcome: String, Sendable, Codable {
    case found
    /// It passes without a limit, but with none that was tried.
    case neverPasses = "never-passes"
    /// The search was interrupted, or ended without an answer.
    case unfinished
    /// The scenario fails without the limit, or for a reason that no limit explains.
    case failed
  }

  package let name: ScenarioName
  package let environment: EnvironmentInfo
  /// The scenario's own `memory-limit`, which the runs without another limit had, too.
  package let ownLimit: Bytes?
  /// nil if the scenario failed before anything was known.
  package var search: LimitSearch?
  package var failure: Failure?
  /// All runs, with warm-ups and those without the limit.
  package var runCount = 0
  package var duration = Duration.zero
  package var wasInterrupted = false

  package init(_ name: ScenarioName, in environment: EnvironmentInfo, ownLimit: Bytes?) {
    (self.name, self.environment, self.ownLimit) = (name, environment, ownLimit)
  }

  package var outcome: Outcome {
    if failure != nil { return .failed }
    guard let search else { return .unfinished }
    if search.next == nil, search.need != nil { return .found }
    let isHopeless = search.next == nil && search.lowestSurvivor == nil
    return isHopeless && !wasInterrupted ? .neverPasses : .unfinished
  }

  package var verdict: Verdict {
    switch outcome {
    case .found: .pass
    case .neverPasses, .unfinished: .inconclusive
    case .failed: failure?.verdict ?? .failed
    }
  }
}

/// The studies of one run.
package struct LimitResult: Sendable, Equatable {
  package let run: RunInfo
  package var studies: [LimitStudy]

  package init(run: RunInfo, studies: [LimitStudy]) {
    (self.run, self.studies) = (run, studies)
  }

  package var verdict: Verdict { Verdict.combined(studies.map(\.verdict)) ?? .inconclusive }
}
