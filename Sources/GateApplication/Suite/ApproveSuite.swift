import FoundationEssentials
import GateCore

/// Approves the figures of the last run of suites, each as one file of baselines.
///
/// The line of a test that passes stays as it is, so that a diff has one line for each test that changed.
struct ApproveSuite {
  var options = SharedOptions()
  /// Empty for all suites that have run here.
  var names: [String] = []
  var reason: String?
  /// Whether a result of another commit is approved as well.
  var forces = false

  /// - Returns: `pass`; `failed` if a suite cannot be approved, and `usage` if it can by `--force`.
  func run(in invocation: Invocation) throws -> ExitCode {
    let place = try SuitePlace(options, in: invocation, options.loadProjectWithoutVariables)
    guard !place.hasBaselinesOutside else {
      throw RunnerError(
        problem: "the folder of baselines is outside the repository", place: invocation.shown(place.baselines),
        hint: "to write there, use `--baselines FOLDER`")
    }
    let suites = names.isEmpty ? place.suites : names.map { ScenarioName($0).pathComponent }
    guard !suites.isEmpty else {
      throw RunnerError(
        problem: "no suite result to approve", place: place.artifacts.path,
        hint: "run `highwater suite -- COMMAND` first")
    }
    let codes = try suites.map { try approve(place.result(ofFolder: $0), in: place, invocation) }
    return codes.contains(.failed) ? .failed : codes.first { $0 != .pass } ?? .pass
  }

  private func approve(_ path: String, in place: SuitePlace, _ invocation: Invocation) throws -> ExitCode {
    let result = try SuiteFile.read(path)
    guard let run = result.run else { preconditionFailure("the file of a suite has its run") }
    let build = BuildContext(variables: invocation.variables, root: place.root)
    if let obstacle = obstacle(to: result, of: run, head: build.head) {
      invocation.console.printError(RunnerError(problem: "\(result.name): \(obstacle.problem)", hint: obstacle.hint))
      return obstacle.canBeOverridden ? .usage : .failed
    }
    let file = SuiteBaselineFile(result.name, result.environment.name, in: place.baselines)
    let approval = Approval(
      at: invocation.now(), by: build.person, commit: run.commit, isDirty: run.isDirty, reason: reason, run: run.id)
    let change = try file.approve(result, approval, forces: forces).change
    invocation.console.print("\(change.displayText): \(TerminalText.safe(invocation.shown(file.path)))\n")
    return .pass
  }

  private struct Obstacle {
    let problem: String
    let hint: String
    let canBeOverridden: Bool
  }

  /// The rules of `approve`: nothing that failed, and nothing of another commit unless it is forced.
  private func obstacle(to result: SuiteResult, of run: RunInfo, head: String?) -> Obstacle? {
    if let problem = result.problems.first {
      return Obstacle(
        problem: problem.displayText, hint: "fix it and run `highwater suite` again", canBeOverridden: false)
    }
    guard !forces, let head else { return nil }
    guard let measured = run.commit else {
      return Obstacle(
        problem: ApprovalChange.SkipReason.unknownCommit(head: head).displayText,
        hint: "run `highwater suite` again, or use `--force`", canBeOverridden: true)
    }
    guard !CommitID.areSame(measured, head) else { return nil }
    let reason = ApprovalChange.SkipReason.otherCommit(measured: measured, isDirty: run.isDirty, head: head)
    return Obstacle(
      problem: reason.displayText, hint: "run `highwater suite` again, or use `--force`", canBeOverridden: true)
  }
}

extension SuiteBaselineFile {
  /// Writes what a result makes of the baseline, unless nothing changes; `forces` replaces one that cannot be read.
  func approve(
    _ result: SuiteResult, _ approval: Approval, forces: Bool
  ) throws(FileError) -> (previous: SuiteBaseline?, baseline: SuiteBaseline, change: SuiteBaselineChange) {
    let previous = forces ? try? read() : try read()
    let baseline = SuiteBaseline(of: result, replacing: previous, approval: approval)
    let change = SuiteBaselineChange(from: previous, to: baseline)
    if !change.isEmpty { try write(baseline) }
    return (previous, baseline, change)
  }
}

extension SuiteBaselineChange {
  /// As in `approved 1 new, 2 changed of 412 tests`.
  var displayText: String {
    let parts = [(added, "new"), (changed, "changed"), (removed, "removed")].filter { $0.0 > 0 }
    guard !parts.isEmpty else { return "nothing to approve" }
    return "approved \(parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")) of \(total) tests"
  }
}
