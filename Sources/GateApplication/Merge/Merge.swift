import FoundationEssentials
import GateCore

/// Merges the results of a check that was split over several jobs, and ends it as one check.
struct Merge {
  /// The result files, in any order.
  var files: [String]
  var options = SharedOptions()
  var notifies = true
  /// Whether an undelivered message has its own exit code.
  var requiresDelivery = false

  init(files: [String]) {
    self.files = files
  }

  /// Reports the merged result like that of a check; without a project file, it only writes reports.
  ///
  /// - Returns: the exit code of the verdict.
  /// - Throws: `DiagnosticError` if the files are not the results of one run's shards.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.prepareReports(in: invocation)
    let shards = try shards(invocation)
    var result = try merged(shards, invocation)
    guard let project = try loadProject(invocation) else { return try report(result, invocation) }
    let store = BaselineStore(folder: project.baselines)
    result.scenarios = result.scenarios.map { judgedAgain($0, store) }
    try options.refuseNames(of: project.scenarios)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare(in: project.root)
    return try artifacts.whileLocked {
      for shard in shards { try copyProfiles(of: shard, into: artifacts, run: result.run.id, invocation) }
      let report = CheckReport(
        judged: result, code: MeasuredCode(in: project.root, isDirty: result.run.isDirty), project: project,
        artifacts: artifacts, comparisons: [], comparisonCommit: nil, options: options, against: nil,
        requiresDelivery: requiresDelivery, invocation: invocation)
      return report.finish(after: [])
    }
  }

  /// A scenario with the verdict of its values, if its baseline is the one with which its shard has compared it.
  private func judgedAgain(_ scenario: ScenarioResult, _ store: BaselineStore) -> ScenarioResult {
    guard let approval = scenario.approval, scenario.comparedBuild == nil,
      let baseline = try? store.load(scenario.name, environment: scenario.environment.name),
      baseline.approval == approval
    else { return scenario }
    return scenario.judgedAgain(against: baseline)
  }

  private func shards(_ invocation: Invocation) throws -> [ShardResult] {
    try files.map { file in
      ShardResult(file: file, result: try ResultFile.readMeasured(invocation.absolute(file), shown: file))
    }
  }

  /// Keeps the profiles of a shard, so that `approve` finds those of the merged run.
  private func copyProfiles(
    of shard: ShardResult, into artifacts: ArtifactsFolder, run merged: String, _ invocation: Invocation
  ) throws(FileError) {
    for scenario in shard.result.scenarios {
      let run = shard.result.run.id
      guard var profile = artifacts.profile(of: scenario.name, in: run, beside: invocation.absolute(shard.file))
      else { continue }
      profile.run = merged
      try artifacts.write(profile, of: scenario.name)
    }
  }

  private func merged(_ shards: [ShardResult], _ invocation: Invocation) throws -> RunResult {
    var random = SystemRandomNumberGenerator()
    do throws(MergeError) {
      var result = try RunResult.merged(shards, id: RunIdentifier.make(at: invocation.now(), random: &random))
      result.run.buildURL = invocation.ci.buildURL ?? result.run.buildURL
      return result
    } catch {
      throw RunnerError(error.diagnostics)
    }
  }

  /// nil if there is none to be found, and none is named.
  private func loadProject(_ invocation: Invocation) throws -> Project? {
    let isNamed = options.config != nil
    guard isNamed || (try? ProjectFile.locate(explicit: nil, from: invocation.workingDirectory)) != nil else {
      return nil
    }
    return try options.loadProject(in: invocation, notifying: notifies, requiringDelivery: requiresDelivery)
  }

  private func report(_ result: RunResult, _ invocation: Invocation) throws -> ExitCode {
    var context = SummaryContext(exitCode: result.verdict.exitCode)
    context.detail = invocation.console.detail
    context.approval = options.json.map { $0 == "-" ? .unavailable : .file($0) } ?? .unavailable
    try options.report(result, context: context, in: invocation)
    return result.verdict.exitCode
  }
}
