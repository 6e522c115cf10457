import GateCore

/// Says which code holds the memory of scenarios, and which more than in another build: runs them with a profiler.
struct Explain {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []
  /// How often each build runs.
  var repetitions = 3
  /// Another build of the target to compare with.
  var against: ComparisonSource?
  /// Which rise is explained; without another build, of growth the rise during the run.
  var rise = ExplainedRise.peak
  /// The path of an earlier profile to compare with, instead of the approved build's; only for one scenario.
  var base: String?
  /// The files for the profile; only for one scenario.
  var files: [ProfileOutput] = []

  /// Runs the scenarios and prints what holds their memory; verdicts, baselines and the history are unchanged.
  ///
  /// - Returns: `pass`, `failed` if a scenario failed, or the code of an interruption.
  /// - Throws: `DiagnosticError` for bad input, or if targets cannot be profiled here.
  func run(in invocation: Invocation) throws -> ExitCode {
    let base = try base.map { try readBase(invocation.absolute($0), invocation) }
    func check(_ scenarios: [Scenario]) throws {
      try checkFiles(for: scenarios)
      try scenarios.requireTracing(by: invocation.measurer, because: "explain profiles targets with")
    }
    return try options.study(selection, areStarted: true, in: invocation, checking: check) { studied in
      for file in files { try SafeFile.prepareToWrite(invocation.absolute(file.path)) }
      return try against.whileBuilt(
        for: studied.scenarios, of: studied.project, log: studied.artifacts.buildLog, invocation
      ) {
        try explain(studied, against: $0, base: base, invocation)
      }
    }
  }

  private func explain(
    _ studied: StudiedProject, against build: ComparisonBuild?, base: ProfiledBuild?, _ invocation: Invocation
  ) throws -> ExitCode {
    let (project, scenarios, artifacts) = (studied.project, studied.scenarios, studied.artifacts)
    let code = build?.commit.flatMap { _ in
      MeasuredCode(in: project.root, isDirty: GitQuery.hasUncommittedChanges(in: project.root) ?? false)
    }
    var explanations: [Explanation] = []
    defer { invocation.console.endProgress() }
    for (index, scenario) in scenarios.enumerated() where !invocation.isInterrupted {
      invocation.console.show(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      let other = try build?.scenario(scenario)
      var runs = try ProfiledRuns(
        of: scenario, against: other, by: invocation.measurer, into: artifacts.explain,
        showProgress: invocation.console.show)
      runs.rises = [MeasuredRise(rise)]
      let base = try base ?? (other == nil ? approved(scenario, project, artifacts, invocation) : nil)
      if let explanation = runs.explanation(repetitions: repetitions, base: base) { explanations.append(explanation) }
    }
    guard !invocation.isInterrupted else { return invocation.interruptedExit() }
    if let commit = build?.commit {
      var changes = CodeChangeSearch(of: project, code, in: invocation)
      changes.addChanges(to: &explanations, since: commit)
    }
    return try report(explanations, page: artifacts.explanationPage, invocation)
  }

  private func checkFiles(for scenarios: [Scenario]) throws(RunnerError) {
    guard let option = base.map({ _ in "--base" }) ?? files.first?.option, scenarios.count > 1 else { return }
    throw RunnerError(
      problem: "\(option) is for one scenario, and \(scenarios.count) are selected",
      hint: "name one of them, as in `highwater explain \(option) FILE \(scenarios[0].name)`")
  }

  /// The profile of the approved build, if there is one for this machine.
  private func approved(
    _ scenario: Scenario, _ project: Project, _ artifacts: ArtifactsFolder, _ invocation: Invocation
  ) throws -> ProfiledBuild? {
    let store = BaselineStore(folder: project.baselines)
    let environment = project.environment.environment(of: scenario, on: invocation.measurer)
    let baseline = (try? store.load(scenario.name, environment: environment.name)) ?? nil
    guard let baseline, baseline.isComparable(to: environment) else { return nil }
    return ApprovedProfiles(baselines: store, artifacts: artifacts).profile(for: baseline)
  }

  private func readBase(_ path: String, _ invocation: Invocation) throws -> ProfiledBuild {
    try ProfileFile.decode(try SafeFile.read(path, atMost: ProfileFile.largest), path: invocation.shown(path))
  }

  private func report(_ explanations: [Explanation], page: String, _ invocation: Invocation) throws -> ExitCode {
    invocation.console.endProgress()
    try SafeFile.write(Array(ExplainPage.text(explanations).utf8), to: page)
    invocation.console.report(besides: options) {
      ExplainReport.text(explanations, page: invocation.shown(page), style: $0)
    }
    for file in files {
      guard let bytes = explanations.first.flatMap(file.encode) else { continue }
      try SafeFile.write(bytes, to: invocation.absolute(file.path))
    }
    return explanations.contains { $0.comparison == nil || $0.obstacle != nil } ? .failed : .pass
  }
}

/// A file for what one scenario holds.
struct ProfileOutput: Sendable, Equatable {
  enum Format: String, Sendable {
    /// The call stacks of one repetition.
    case folded, pprof
    /// What later profiles can be compared with.
    case json
  }

  var format: Format
  var path: String

  init(_ format: Format, path: String) {
    (self.format, self.path) = (format, path)
  }

  fileprivate var option: String { "--\(format.rawValue)" }

  /// nil if the scenario has no profile.
  fileprivate func encode(_ explanation: Explanation) -> [UInt8]? {
    switch format {
    case .folded: explanation.profile.map(FoldedStacks.encode)
    case .pprof: explanation.profile.map(PprofFile.encode)
    case .json: explanation.build.map(ProfileFile.encode)
    }
  }
}
