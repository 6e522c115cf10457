import FoundationEssentials

/// Why results are not those of the shards of one run.
package struct MergeError: Error, Sendable, Equatable {
  /// What all shards of a run have in common.
  package enum Property: Sendable, CaseIterable {
    case toolVersion, commit, branch, pullRequest, shardCount, scenarios, comparisonBuild
  }

  package enum Problem: Sendable, Equatable {
    /// It is not the result of `check --shard`.
    case notOfShard(file: String)
    /// Two results differ in something that all shards have in common.
    case different(Property, file: String, value: String, other: String, otherValue: String)
    /// Their machines differ in these fields.
    case differentMachines(file: String, other: String, differences: [Fingerprint.Difference])
    case sameShard(index: Int, count: Int, files: [String])
    case sameScenario(ScenarioName, files: [String])
  }

  /// Never empty.
  package let problems: [Problem]

  package init(problems: [Problem]) {
    self.problems = problems
  }
}

/// The result of one shard, with the name of its file for messages.
package struct ShardResult: Sendable, Equatable {
  package let file: String
  package let result: RunResult

  package init(file: String, result: RunResult) {
    (self.file, self.result) = (file, result)
  }

  fileprivate var shard: RunInfo.Shard { result.run.shard ?? RunInfo.Shard(index: 1, count: 1) }
}

extension RunInfo.Shard {
  /// Which shard runs the scenario at this position: scenarios are dealt out in turn.
  package static func index(ofScenarioAt position: Int, count: Int) -> Int { position % count + 1 }

  /// The scenarios of this shard.
  package func part<Element>(of all: [Element]) -> [Element] {
    all.enumerated().filter { Self.index(ofScenarioAt: $0.offset, count: count) == index }.map(\.element)
  }
}

extension RunResult {
  /// Merges the results of a run's shards, in any order.
  ///
  /// Scenarios of missing shards are inconclusive, since nothing is known about them. A scenario whose metrics are worse
  /// than its verdict has theirs.
  ///
  /// - Parameters:
  ///   - shards: At least one.
  ///   - id: The ID of the merged run.
  /// - Returns: the result that one job would have given.
  /// - Throws: an error if they are not shards of one run, or if one of them occurs twice.
  package static func merged(_ shards: [ShardResult], id: String) throws(MergeError) -> RunResult {
    let shards = shards.sorted { ($0.shard.index, $0.file) < ($1.shard.index, $1.file) }
    for problems in [problems(of: shards), doubles(in: shards)] where !problems.isEmpty {
      throw MergeError(problems: problems)
    }
    let all = shards[0].shard
    let measured = Dictionary(
      uniqueKeysWithValues: shards.flatMap(\.result.scenarios).map { ($0.name, $0.withConsistentVerdict()) })
    let environment = all.scenarios.compactMap { measured[$0]?.environment }.plainest ?? shards[0].result.environment
    let scenarios = all.scenarios.enumerated().map { position, name in
      measured[name] ?? .missing(name, at: position, of: all, environment)
    }
    let run = RunInfo(merging: shards.map(\.result.run), id: id)
    return RunResult(run: run, environment: environment, scenarios: scenarios)
  }

  // MARK: Shards of one run

  /// Why the results are not of one run.
  private static func problems(of shards: [ShardResult]) -> [MergeError.Problem] {
    let whole = shards.filter { !$0.result.run.isPartial }
    guard whole.isEmpty, let first = shards.first else { return whole.map { .notOfShard(file: $0.file) } }
    let differences = shards.dropFirst().compactMap { difference(of: $0, from: first) }
    return differences.isEmpty ? machineDifferences(between: shards) : differences
  }

  private static func difference(of one: ShardResult, from other: ShardResult) -> MergeError.Problem? {
    for property in MergeError.Property.allCases {
      guard let value = property.value(in: one.result), let otherValue = property.value(in: other.result)
      else { continue }
      let isSame = property == .commit ? CommitID.areSame(value, otherValue) : value == otherValue
      guard !isSame else { continue }
      return .different(property, file: one.file, value: value, other: other.file, otherValue: otherValue)
    }
    return nil
  }

  /// Compares scenarios with the same isolation and number of CPUs, which have the same environment on the same kind of machine.
  private static func machineDifferences(between shards: [ShardResult]) -> [MergeError.Problem] {
    var known: [[String?]: (file: String, environment: EnvironmentInfo)] = [:]
    return shards.compactMap { shard in
      for scenario in shard.result.scenarios {
        let settings = ["cpus", "isolation"].map { scenario.definition?.hashes[$0] }
        let first = known[settings, default: (shard.file, scenario.environment)]
        known[settings] = first
        let differences = scenario.environment.machineDifferences(from: first.environment)
        guard differences.isEmpty else {
          return .differentMachines(file: shard.file, other: first.file, differences: differences)
        }
      }
      return nil
    }
  }

  private static func doubles(in shards: [ShardResult]) -> [MergeError.Problem] {
    let shared = Dictionary(grouping: shards, by: \.shard.index).filter { $1.count > 1 }.sorted { $0.key < $1.key }
    guard shared.isEmpty else {
      return shared.map { .sameShard(index: $0, count: $1[0].shard.count, files: $1.map(\.file)) }
    }
    let scenarios = shards.flatMap { shard in shard.result.scenarios.map { (name: $0.name, file: shard.file) } }
    return Dictionary(grouping: scenarios, by: \.name).filter { $1.count > 1 }.sorted { $0.key < $1.key }
      .map { .sameScenario($0, files: $1.map(\.file)) }
  }
}

extension MergeError.Property {
  /// Empty if the result does not have it; nil if it cannot be told, as from a shard without scenarios.
  fileprivate func value(in result: RunResult) -> String? {
    switch self {
    case .toolVersion: result.toolVersion
    case .commit: result.run.commit ?? ""
    case .branch: result.run.branch ?? ""
    case .pullRequest: result.run.pullRequest ?? ""
    case .shardCount: "\(result.run.shard?.count ?? 1)"
    case .scenarios: result.run.shard?.scenarios.map(\.text).joined(separator: ", ") ?? ""
    case .comparisonBuild: result.comparedBuild ?? (result.comparesNothing ? nil : "")
    }
  }
}

extension RunResult {
  /// The build that `--against` compared with; nil without one.
  package var comparedBuild: String? { scenarios.lazy.compactMap(\.comparedBuild).first }

  /// Whether all scenarios failed before they could be compared.
  fileprivate var comparesNothing: Bool { scenarios.allSatisfy { $0.failure != nil } }
}

extension ScenarioResult {
  /// Whether the shard that was to run it is missing.
  package var isOfMissingShard: Bool {
    notes.contains { if case .shardMissing = $0 { true } else { false } }
  }

  fileprivate static func missing(
    _ name: ScenarioName,
    at position: Int,
    of shard: RunInfo.Shard,
    _ environment: EnvironmentInfo
  ) -> ScenarioResult {
    let index = RunInfo.Shard.index(ofScenarioAt: position, count: shard.count)
    return ScenarioResult(
      name: name, verdict: .inconclusive, environment: environment,
      notes: [.shardMissing(index: index, count: shard.count)])
  }
}

extension EnvironmentInfo {
  /// The differences that rule out comparisons, other than the scenario's own memory limit.
  fileprivate func machineDifferences(from other: EnvironmentInfo) -> [Fingerprint.Difference] {
    fingerprint.differences(fromBaseline: other.fingerprint)
      .filter { $0.isHard && $0.field != .memoryLimit && !ignoredFields.contains($0.field) }
  }
}

extension RunInfo {
  /// From the start of the first shard to the end of the last; with the link to a build page if it is the same for all.
  fileprivate init(merging runs: [RunInfo], id: String) {
    self = runs[0]
    (self.id, shard) = (id, nil)
    startedAt = runs.map(\.startedAt).min() ?? startedAt
    let end = runs.map { $0.startedAt.addingTimeInterval($0.duration.inSeconds) }.max() ?? startedAt
    duration = .milliseconds(Int64((end.timeIntervalSince(startedAt) * 1000).rounded()))
    isDirty = runs.contains(where: \.isDirty)
    subject = runs.lazy.compactMap(\.subject).first
    if runs.contains(where: { $0.buildURL != buildURL }) { buildURL = nil }
  }
}
