import FoundationEssentials
import GateCore

extension Note {
  /// The note as one sentence about this scenario.
  func text(in scenario: ScenarioResult) -> String {
    switch self {
    case .recording(let note, let count, let total):
      note.displayText + (count < total ? " (in \(count) of \(total) repetitions)" : "")
    case .machine(let note): note.displayText
    case .comparedWithBuild(let build): "compared with the build `\(build)`, run alternately with the scenario's own"
    case .comparedWithCommit(let revision, let commit):
      "compared with \(revision) (\(CommitText.short(commit))), built in a worktree and run alternately with this build"
    case .shardMissing(let index, let count):
      "not measured: the result of shard \(index) of \(count) is missing; run its job again, and merge all results"
    case .ungatedGrowth(let growth, let count, let total, let limit):
      "memory grows in \(count) of \(total) repetitions, by "
        + "\(growth.text(perIteration: scenario.growthIsPerIteration)), and the gate has no rule for growth; "
        + "if it should not grow, \(scenario.adviceToGateGrowth(limit: limit)); checks then fail until it stops"
    case .noRepetitions: "no repetition was measured"
    case .nothingJudged: "nothing was judged: every metric of the gate is off"
    case .notJudged(let metric, let cause): "\(metric) is not judged: \(cause.text(for: metric))"
    case .otherUnit(let metric, let before?, let now):
      "\(metric) is not judged: the baseline has it in \(before), this run in \(now); re-approve the baseline"
    case .otherUnit(let metric, nil, _):
      "\(metric) is not judged: the baseline does not have it; re-approve the baseline"
    case .otherTreeMethod(let metric, let before, let now):
      "\(metric) is not judged: the baseline counted the process tree by another method (\(before.rawValue)) than now "
        + "(\(now.rawValue))"
    case .baselineSeldomSteady(let metric, 0, _): "\(metric) is not judged: the baseline has no steady state"
    case .baselineSeldomSteady(let metric, let count, let total):
      "\(metric) is not judged: only \(count) of the baseline's \(total) repetitions became steady"
    case .otherEnvironment(let name, let differences): scenario.text(ofBaselineIn: name, differences)
    case .newWithoutBaseline(let end):
      "not judged: it has no baseline; --allow-missing-baseline allows that "
        + (end.map { "until \(Self.day($0))" } ?? "for 14 days after the scenario is committed")
    case .tooLongWithoutBaseline(let begin?):
      "it has had no baseline since \(Self.day(begin)), and --allow-missing-baseline allows that for 14 days only; approve one"
    case .tooLongWithoutBaseline(nil):
      "--allow-missing-baseline does not apply: this checkout does not show since when the scenario exists; "
        + "fetch the whole history, or approve a baseline"
    case .unusableBaseline(let defect): defect.displayText
    case .environmentChanged(let differences):
      "the environment differs from the baseline's\(differences.listText)"
    case .tooFewValues(let current, let baseline):
      "too few values for a statistical test (\(current) now, \(baseline) in the baseline), so only the size of "
        + "the change decides; 5 of each are enough"
    case .creep(let creep): creep.displayText
    case .summedChanges(let count):
      "the errors of \(count) approved changes add up, so larger rises pass; run `highwater approve --fold` on the main "
        + "branch"
    case .otherScenario(let keys, let before, let now):
      "the scenario has changed since the baseline was measured: "
        + ScenarioText.changes(in: keys, commands: (before, now), labels: ("baseline", "now"))
    case .otherProgram(let before, let now):
      "the largest process is `\(now)`, and was `\(before)` in the baseline"
    case .ungatedRises(let rises): "rose, but is not judged: \(Self.list(rises))"
    case .risesWithinTolerance(let rises): "rose within the tolerance: \(Self.list(rises))"
    case .hiddenGrowth(let growth): growth.displayText
    case .metricLost(let metric, let before, let all, let now, let total):
      "\(metric) is not judged: \(now) of \(total) repetitions have it, and \(before) of \(all) in the baseline"
    case .becameSteady(let metric): "\(metric) is new: memory becomes steady, and did not in the baseline"
    case .uncertainFall(let metric, .shortPeak):
      "\(metric) fell, but that may not be an improvement: without a tracer a short peak may have been missed"
    case .uncertainFall(let metric, .fewSteps(let iterations)):
      "\(metric) fell, but that may not be an improvement: over \(iterations) iterations, one allocation more or less makes as "
        + "much; more iterations show it"
    case .twoLevels(let metric, let unit, let levels):
      "\(metric) has two levels, and the change is within what chance explains: \(levels.text(unit: unit))"
    case .riseOutweighed(let metric, let rise, let tree, let fall):
      "\(metric) rose by \(Format.amount(rise)), but \(tree) fell by \(Format.amount(fall)); of several processes, the "
        + "whole tree counts; approve it, so that later checks expect as little"
    case .otherPhases(let new, let gone):
      [
        new.count == 0 ? nil : "not judged, since they have no baseline yet: \(new.displayText)",
        gone.count == 0 ? nil : "in the baseline, but did not occur: \(gone.displayText)",
      ].compactMap(\.self).joined(separator: "; ")
    case .notExplained(let obstacle): "the rise is not explained: \(obstacle.text(of: scenario.name))"
    case .onlyInBase(let names): "only in the base: \(names.map(\.text).joined(separator: ", "))"
    }
  }

  /// Whether it is true of every run of this scenario on this machine, so that it can be omitted from a pass.
  var isRoutine: Bool {
    switch self {
    case .recording(.brief, _, _), .recording(.treeMethod, _, _), .recording(.attached, _, _),
      .recording(.notTraced, _, _), .recording(.behindTool, _, _),
      .recording(.downsampled, _, _):
      true
    case .recording: false
    case .machine(.swapInUse), .machine(.smallLimit), .machine(.hiddenLimit), .machine(.noSwap): false
    case .machine, .comparedWithBuild, .comparedWithCommit, .notJudged, .environmentChanged: true
    // Of a program that never becomes steady it says nothing new.
    case .baselineSeldomSteady(_, let count, _): count == 0
    case .otherUnit, .otherScenario, .otherProgram, .ungatedGrowth, .ungatedRises, .risesWithinTolerance,
      .otherTreeMethod, .hiddenGrowth, .metricLost, .becameSteady, .twoLevels, .uncertainFall,
      .riseOutweighed, .otherPhases, .noRepetitions,
      .nothingJudged, .otherEnvironment, .newWithoutBaseline, .tooLongWithoutBaseline, .unusableBaseline, .tooFewValues,
      .creep, .summedChanges, .notExplained,
      .onlyInBase, .shardMissing:
      false
    }
  }

  /// As in `2026-12-10`, UTC.
  private static func day(_ date: Date) -> String { String(date.formatted(.iso8601).prefix(10)) }

  private static let mostRises = 8

  private static func list(_ rises: [Rise]) -> String {
    let more = rises.count > mostRises ? " and \(Format.count(rises.count - mostRises, "other"))" : ""
    return rises.prefix(mostRises).map { rise in
      let ends = "\(Format.amount(rise.before, unit: rise.unit)) → \(Format.amount(rise.after, unit: rise.unit))"
      let share = rise.metric.isRate || rise.before <= 0 ? nil : (rise.after - rise.before) / rise.before * 100
      return "\(rise.metric) \(ends)" + Format.bracketedPercent(share)
    }.joined(separator: ", ") + more
  }
}

extension RunNote {
  /// The maximum number of names; more are only counted.
  private static let mostNames = 5

  /// The note as one sentence.
  var text: String {
    switch self {
    case .editsOwnGate(let baselines, let files):
      let names = Self.list(files.map { "`\($0)`" })
      let parts = [
        baselines.isEmpty ? nil : "the baselines of \(Self.list(baselines))",
        files.isEmpty ? nil : "the project \(files.count == 1 ? "file" : "files") \(names)",
      ]
      let pronoun = baselines.isEmpty && files.count == 1 ? "it" : "them"
      return "this change edits \(Self.list(parts.compactMap(\.self))): review \(pronoun)"
    case .movesBaseline(let scenario, let environment, let moves, let isNew, let approval):
      let values = moves.map { isNew ? $0.firstText : $0.moveText }.joined(separator: ", ")
      let signature = approval.map { "; \($0.shortText)" } ?? ""
      return "\(isNew ? "first baseline" : "baseline") of \(scenario) (\(environment)): \(values)\(signature)"
    case .unknownEdits:
      return "cannot tell whether this change edits its own baselines: the merge base is not in this checkout; fetch "
        + "more history"
    case .unknownChanges(let commit):
      return "the changes since the approved commit \(CommitText.short(TerminalText.safe(commit))) are unknown: the "
        + "checkout does not have it; fetch more history"
    case .tookProfiles(let count, let left):
      let rest = left > 0 ? "; \(Format.count(left, "more")) will get one in the next check" : ""
      return "profiled \(Format.count(count, "passing scenario")) to explain a later rise\(rest)"
    case .lacksProfile(let scenario, let obstacle):
      let reason = obstacle.text(of: scenario)
      return "a later rise of \(scenario) cannot be explained yet: \(reason); the next check tries again"
    }
  }

  /// Whether it can be omitted from a short report.
  var isRoutine: Bool {
    switch self {
    case .editsOwnGate, .movesBaseline, .tookProfiles, .lacksProfile: false
    case .unknownEdits, .unknownChanges: true
    }
  }

  /// The scenario whose baseline it is on; nil if it is on the run as a whole.
  var movedScenario: ScenarioName? {
    if case .movesBaseline(let scenario, _, _, _, _) = self { scenario } else { nil }
  }

  private static func list(_ names: [String]) -> String {
    let more = names.count - mostNames + 1
    let shown = more > 1 ? names.prefix(mostNames - 1) + ["\(more) more"] : names[...]
    let (head, last) = (shown.dropLast().joined(separator: ", "), shown.last ?? "")
    return head.isEmpty ? last : "\(head) and \(last)"
  }
}

extension ScenarioResult {
  fileprivate func text(ofBaselineIn name: String, _ differences: [Fingerprint.Difference]) -> String {
    let hard = differences.filter(\.isHard)
    let list = hard.isEmpty ? differences : hard
    // Two kinds of machines have the same name: a configured one, or that of an edited file.
    if name == summary.environment.name {
      return "the baseline of this name is from another environment\(list.listText)"
    }
    return "the nearest baseline is from the environment \(name)"
      + (list.isEmpty ? "" : ", which differs in\(list.listText)")
  }

  fileprivate func adviceToGateGrowth(limit: Amount) -> String {
    let rules = gate(limitingGrowthTo: limit).rules
    guard gate.isStandard else { return "add `\(rules.suffix(1).map(\.spelled).joined())` to its `gate`" }
    return "write `gate: {\(rules.map(\.spelled).joined(separator: ", "))}`"
  }
}

extension Rise {
  /// As in `peak_rss 4.7 MiB`.
  fileprivate var firstText: String { "\(metric) \(Format.amount(after, unit: unit))" }

  /// As in `peak_rss 4.7 MiB → 5.2 MiB (+9.3 %)`.
  fileprivate var moveText: String {
    let percent = before > 0 ? (after - before) / before * 100 : nil
    return "\(metric) \(Format.amount(before, unit: unit)) → \(Format.amount(after, unit: unit))"
      + Format.bracketedPercent(percent)
  }
}
