package import FoundationEssentials

/// The program's name and version in reports.
package enum Tool {
  package static let name = "highwater"
  package static let version = "0.1.0"
}

/// A finished run of one or more scenarios: the input of every report.
package struct RunResult: Sendable, Equatable {
  package var run: RunInfo
  package var environment: EnvironmentInfo
  /// In project file order.
  package var scenarios: [ScenarioResult]
  /// The version of the program that measured and judged.
  package var toolVersion = Tool.version

  package init(run: RunInfo, environment: EnvironmentInfo, scenarios: [ScenarioResult]) {
    self.run = run
    self.environment = environment
    self.scenarios = scenarios
  }

  /// `skipped` without scenarios, as in a shard that has none.
  package var verdict: Verdict {
    Verdict.combined(scenarios.map(\.verdict)) ?? .skipped
  }
}

/// Which build was run, and when.
package struct RunInfo: Sendable, Hashable, Codable {
  /// A version 7 UUID, so that IDs sort by time.
  package var id: String
  package var startedAt: Date
  package var duration: Duration
  package var commit: String?
  /// Whether tracked files of the checkout differed from the commit at the start.
  package var isDirty: Bool
  /// The tree of all files of the checkout (git), if it was not that of the commit.
  package var tree: String?
  /// The first line of the commit's message.
  package var subject: String?
  package var branch: String?
  /// The build's page on the CI system.
  package var buildURL: String?
  /// The number of the pull or merge request that the build tests.
  package var pullRequest: String?
  /// The part of a build that is split over several jobs; nil for a single job.
  package var shard: Shard?
  package var notes: [RunNote]

  /// One of several jobs that share the work of a build.
  package struct Shard: Sendable, Hashable {
    /// Counts from 1.
    package var index: Int
    package var count: Int
    /// The scenarios of all shards of a check, in project file order; empty if the job was not split by `--shard`.
    package var scenarios: [ScenarioName]

    package init(index: Int, count: Int, scenarios: [ScenarioName] = []) {
      (self.index, self.count, self.scenarios) = (index, count, scenarios)
    }
  }

  /// Whether the results of other shards belong to it (`check --shard`).
  package var isPartial: Bool { shard.map { !$0.scenarios.isEmpty } ?? false }

  package init(
    id: String,
    startedAt: Date,
    duration: Duration = .zero,
    commit: String? = nil,
    isDirty: Bool = false,
    subject: String? = nil,
    branch: String? = nil,
    buildURL: String? = nil,
    pullRequest: String? = nil,
    shard: Shard? = nil,
    notes: [RunNote] = []
  ) {
    self.id = id
    self.startedAt = startedAt
    self.duration = duration
    self.commit = commit
    self.isDirty = isDirty
    self.subject = subject
    self.branch = branch
    self.buildURL = buildURL
    self.pullRequest = pullRequest
    self.shard = shard
    self.notes = notes
  }
}

/// The part of a run that the history stores.
package struct RunSummary: Sendable, Equatable {
  package var run: RunInfo
  package var environment: EnvironmentInfo
  /// In project file order.
  package var scenarios: [ScenarioSummary]

  package init(run: RunInfo, environment: EnvironmentInfo, scenarios: [ScenarioSummary]) {
    self.run = run
    self.environment = environment
    self.scenarios = scenarios
  }

  /// `skipped` without scenarios, as in a shard that has none.
  package var verdict: Verdict {
    Verdict.combined(scenarios.map(\.verdict)) ?? .skipped
  }
}

extension ScenarioSummary {
  /// Without changed lines of code: the history need not keep what the repository has.
  fileprivate var withoutCode: ScenarioSummary {
    var summary = self
    for index in summary.explanation?.changes?.functions.indices ?? 0..<0 {
      summary.explanation?.changes?.functions[index].removed = []
      summary.explanation?.changes?.functions[index].added = []
    }
    return summary
  }
}

extension RunResult {
  package var summary: RunSummary {
    RunSummary(run: run, environment: environment, scenarios: scenarios.map(\.summary.withoutCode))
  }
}
