import FoundationEssentials
import GateCore

extension ApprovalChange.SkipReason {
  var displayText: String {
    switch self {
    case .failed(let failure): "it failed: \(failure.displayText)"
    case .noRepetitions: "it has no repetitions"
    case .noPeak: "it has no peak_rss"
    case .unavailable(let metric, let cause): "\(metric) is unavailable: \(cause.text(for: metric))"
    case .unknownApprovedCommit(let environment):
      "git does not know the commit with what was approved for \(environment)"
    case .measuredBeforeDefect: "it was measured before a merge or an edit made its baseline unusable"
    case .otherCommit(let measured, let isDirty, let head):
      "it was measured at commit \(CommitText.short(measured, isDirty: isDirty)), but the checkout is at "
        + CommitText.short(head)
    case .unknownCommit(let head):
      "its commit is unknown, and the checkout is at \(CommitText.short(head))"
    case .otherDefinition(let measured, let current):
      "the scenario has changed in the project file since it was measured: "
        + ScenarioText.changes(
          in: current.keysThatDiffer(from: measured), commands: (measured.command, current.command),
          labels: ("measured", "project file"))
    case .fewerThanPlanned(let count, let least):
      "it has \(Format.count(count, "repetition")), but the project file asks for at least \(least)"
    case .comparedWithBuild(let build): "it was compared with another build, `\(build)`, not with a baseline"
    case .otherEnvironment(let measured, let named):
      "it was measured in the environment `\(measured)`, but would become the baseline of `\(named)`"
    case .otherMachine(let name, let differences):
      "the baseline of `\(name)` is from another kind of machine\(differences.listText)"
    }
  }

  /// What to do instead; nil if a report of the check says it.
  var hintText: String? {
    switch self {
    case .failed, .noRepetitions, .noPeak: nil
    case .unknownApprovedCommit: "fetch the whole history of the repository, and commit the baselines"
    case .unavailable(let metric, _):
      "remove `\(metric)` from the `gate`, or change the scenario so that it has a value"
    case .otherCommit(let measured, _, _):
      "run `highwater check` again, or check out \(CommitText.short(measured))"
    case .otherDefinition, .measuredBeforeDefect, .unknownCommit: "run `highwater check` again"
    case .fewerThanPlanned: "run `highwater check` without `--repetitions`"
    case .comparedWithBuild: "run `highwater check` without another build"
    case .otherEnvironment(_, let named): "run `highwater check --environment\(Format.space)\(named)`"
    case .otherMachine(_, let differences):
      "use another environment name for each kind of machine, or write "
        + "`environment: {ignore: [\(differences.map(\.field.rawValue).joined(separator: ", "))]}`"
    }
  }
}

extension ApprovalChange.KeepReason {
  var displayText: String {
    switch self {
    case .equalValues: "its baseline has the same values"
    case .passes: "it passes against its baseline, which stays; `--force` replaces it"
    case .notImproved: "it did not improve (`--ratchet`)"
    case .nothingToFold: "no change was approved since its baseline (`--fold`)"
    case .differsFromChanges: "it rose above its baseline and the approved changes, so they cannot be folded"
    case .hasBaseline: "it has a baseline for this machine (`--measure`)"
    case .nothingApproved: "no environment has a baseline of it; approve a first one without `--measure`"
    }
  }
}

extension Approval {
  /// As in `approved by Ada on 2026-01-02: the new cache`.
  var displayText: String {
    "approved by \(by) on \(at.day)" + (reason.map { ": \($0)" } ?? ", no reason given")
  }

  /// As in `approved by Ada: the new cache`, without advice.
  var shortText: String { "approved by \(by)" + (reason.map { ": \($0)" } ?? ", no reason given") }

  /// As in `approved by Ada: the new cache`.
  var signature: String {
    "approved by \(by)" + (reason.map { ": \($0)" } ?? ", no reason given (`--reason TEXT` stores one)")
  }
}
