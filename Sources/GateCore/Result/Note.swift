package import FoundationEssentials

/// A note on a scenario's result; reports turn it into a sentence.
package enum Note: Sendable, Hashable, Codable {
  // On the measurement.
  /// A note on `count` of the `total` repetitions.
  case recording(note: RecordingNote, count: Int, total: Int)
  case machine(note: MachineNote)
  /// The values are compared with this build, which ran alternately with the scenario's own build.
  case comparedWithBuild(build: String)
  /// The values are compared with this commit, built in a worktree, which ran alternately with this build.
  case comparedWithCommit(revision: String, commit: String)
  /// A merged result lacks the shard that was to run the scenario.
  case shardMissing(index: Int, count: Int)

  // On the verdict.
  case noRepetitions
  /// Every metric of the gate is off.
  case nothingJudged
  case notJudged(metric: MetricName, cause: Unavailability)
  /// The default gate does not judge the metric, since the baseline has it in another unit, or not at all.
  case otherUnit(metric: MetricName, baseline: String?, current: String)
  /// The default gate does not compare a tree metric, because the baseline counted the process tree in another way.
  case otherTreeMethod(metric: MetricName, baseline: TreeMethod, current: TreeMethod)
  /// The default gate does not judge the metric, since only `count` of the baseline's repetitions have it.
  case baselineSeldomSteady(metric: MetricName, count: Int, total: Int)
  /// There is no baseline for this environment: the name of the closest one, and the fields that differ.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
  /// No environment has a baseline, which `--allow-missing-baseline` allows until then, as in ``Reference``.
  case newWithoutBaseline(until: Date?)
  /// No environment has a baseline, for longer than that allows.
  case tooLongWithoutBaseline(since: Date?)
  /// There is a baseline for this environment, but it cannot be compared with.
  case unusableBaseline(defect: BaselineDefect)
  /// The environment differs from the baseline's in these fields.
  case environmentChanged(differences: [Fingerprint.Difference])
  /// There are too few values for a statistical test.
  case tooFewValues(current: Int, baseline: Int)
  case creep(creep: Creep)
  /// Expected is the sum of so many approved changes that their errors allow larger rises.
  case summedChanges(count: Int)
  /// The scenario has changed since the baseline was measured, in these keys of the project file: the commands of both.
  case otherScenario(keys: [String], baseline: String, current: String)
  /// Another program is the main process than in the baseline.
  case otherProgram(baseline: String, current: String)
  /// Without a baseline: memory grows in `count` repetitions, and no rule covers growth: the median growth, and an
  /// initial limit (``ScenarioResult/gate(limitingGrowthTo:)``).
  case ungatedGrowth(growth: Growth, count: Int, total: Int, limit: Amount)
  /// Metrics without a rule that rose far beyond their noise.
  case ungatedRises(rises: [Rise])
  /// Metrics that rose for certain, by less than their tolerance.
  case risesWithinTolerance(rises: [Rise])
  /// Growth per iteration that would not have been noticed, although a gate is on growth.
  case hiddenGrowth(growth: HiddenGrowth)
  /// A metric that the baseline has in `before` of `ofBefore` repetitions, and the check in `now` of `ofNow`: too few to be
  /// judged.
  case metricLost(metric: MetricName, before: Int, ofBefore: Int, now: Int, ofNow: Int)
  /// A level that the baseline lacks in most repetitions, since memory did not become steady, and the check does not.
  case becameSteady(metric: MetricName)
  /// A metric fell, which is not an improvement for certain.
  case uncertainFall(metric: MetricName, cause: UncertainFall)
  /// A metric with two levels is at the higher one more often, or less often, than in the baseline, by chance.
  case twoLevels(metric: MetricName, unit: String, levels: TwoLevels)
  /// A process rose beyond its tolerance, by `rise` bytes, and the tree fell by `fall`.
  case riseOutweighed(metric: MetricName, rise: Double, tree: MetricName, fall: Double)
  /// Of the phases that a pattern of the gate stands for, some have no baseline yet, or did not occur.
  case otherPhases(new: ReportedNames, gone: ReportedNames)
  /// Which function explains the rise is unknown.
  case notExplained(obstacle: ExplanationObstacle)
  /// Only the base of a comparison has these scenarios.
  case onlyInBase(scenarios: [ScenarioName])

  /// Whether it is a note on the verdict, which a new judgement replaces; others are on the measurement.
  package var isOnVerdict: Bool {
    switch self {
    case .recording, .machine, .comparedWithBuild, .comparedWithCommit, .shardMissing: false
    case .noRepetitions, .nothingJudged, .notJudged, .otherUnit, .otherTreeMethod, .baselineSeldomSteady,
      .otherEnvironment, .newWithoutBaseline, .tooLongWithoutBaseline, .unusableBaseline, .environmentChanged,
      .tooFewValues, .creep, .summedChanges, .otherScenario, .otherProgram,
      .ungatedGrowth, .ungatedRises, .risesWithinTolerance, .hiddenGrowth, .metricLost, .becameSteady, .twoLevels,
      .uncertainFall, .riseOutweighed, .otherPhases, .notExplained, .onlyInBase:
      true
    }
  }

  /// The metric of the gate that could not be judged, or was judged by another one; nil for other notes.
  package var unjudgedMetric: MetricName? {
    switch self {
    case .notJudged(let metric, _), .otherUnit(let metric, _, _), .otherTreeMethod(let metric, _, _),
      .baselineSeldomSteady(let metric, _, _), .metricLost(let metric, _, _, _, _),
      .riseOutweighed(let metric, _, _, _):
      metric
    default: nil
    }
  }
}

/// Why a lower value may be that of a program that needs as much as before: what was not seen shows nothing.
package enum UncertainFall: Sendable, Hashable, Codable {
  /// Without a tracer, a peak between the last reading of a process and its end is missed.
  case shortPeak
  /// So many iterations grew less in all than a few single allocations take.
  case fewSteps(iterations: Int)
}

/// A note on a run as a whole; reports turn it into a sentence.
package enum RunNote: Sendable, Hashable, Codable {
  /// The change under test, such as a pull request, edits what it is judged by: baselines of these scenarios, and these
  /// files of the project, relative to the repository's root. A scenario that the project lacks has its folder's name.
  case editsOwnGate(baselines: [String], files: [String])
  /// The change under test moves what a scenario is expected to need: the medians of its gated metrics at the commit in
  /// which it left its target, and now. Without a baseline there, `before` is what is approved now.
  case movesBaseline(
    scenario: ScenarioName, environment: String, moves: [Rise], isNew: Bool, approval: Approval?)
  /// It is unknown whether it does, as in a checkout without the commit in which the change left its target.
  case unknownEdits
  /// The checkout does not have the commit of a baseline, so that the code cannot be compared with it.
  case unknownChanges(commit: String)
  /// The check took the profiles of this many approved builds, to explain later rises; others still lack one.
  case tookProfiles(count: Int, left: Int)
  /// The check began to take the profile of an approved build and could not.
  case lacksProfile(scenario: ScenarioName, obstacle: ExplanationObstacle)
}

extension RunNote {
  /// The note on a baseline that differs from that of another commit; nil if no metric of the gate moves.
  package init?(onMoveFrom before: Baseline?, to after: Baseline, gate: Gate) {
    let (old, new) = (before?.medians ?? after.medians, after.medians)
    let metrics = gate.rules.filter { $0.severity != .off }.map(\.metric)
    let moves = metrics.compactMap { metric -> Rise? in
      guard let from = old[metric], let to = new[metric], before == nil || from != to,
        before == nil || before?.unit(of: metric) == after.unit(of: metric)
      else { return nil }
      return Rise(metric: metric, unit: after.unit(of: metric), before: from, after: to)
    }
    guard !moves.isEmpty else { return nil }
    // The tree of a single process moves as the process does.
    let named = moves.filter { move in
      !move.metric.isOfTree
        || !moves.contains { !$0.metric.isOfTree && $0.before == move.before && $0.after == move.after }
    }
    self = .movesBaseline(
      scenario: after.scenario, environment: after.environment, moves: named, isNew: before == nil,
      approval: after.approval)
  }
}

extension RunNote {
  /// More tests of a suite are not named.
  private static let mostTests = 5

  /// The note on approved figures of tests that differ from those of another commit, the largest moves first; nil if none
  /// does.
  package init?(onMoveFrom before: SuiteBaseline?, to after: SuiteBaseline) {
    let whole = SuiteMetric.allCases.compactMap { metric -> Rise? in
      guard let to = after.figures[metric.name] else { return nil }
      let from = before.map { $0.figures[metric.name] ?? 0 } ?? to
      return before == nil || from != to ? Rise(metric: metric.name, unit: metric.unit, before: from, after: to) : nil
    }
    let tests = after.tests.flatMap { name, entry in
      TestMetric.allCases.compactMap { metric -> Rise? in
        guard let old = before?.tests[name]?.figures[metric], old != entry.figures[metric] else { return nil }
        return Rise(
          metric: .test(name, metric), unit: "bytes", before: Double(old.count),
          after: Double(entry.figures[metric].count))
      }
    }.sorted { (abs($1.after - $1.before), $0.metric) < (abs($0.after - $0.before), $1.metric) }
    guard !whole.isEmpty || !tests.isEmpty else { return nil }
    self = .movesBaseline(
      scenario: after.suite, environment: after.environment, moves: whole + tests.prefix(Self.mostTests),
      isNew: before == nil, approval: after.approval)
  }
}

/// The change of a metric's median.
package struct Rise: Sendable, Hashable, Codable {
  package var metric: MetricName
  package var unit: String
  package var before: Double
  package var after: Double

  package init(metric: MetricName, unit: String, before: Double, after: Double) {
    self.metric = metric
    self.unit = unit
    self.before = before
    self.after = after
  }
}

/// A metric that rose slowly, by less than its tolerance each time.
package struct Creep: Sendable, Hashable, Codable {
  /// What the rise was summed over.
  package enum Span: Sendable, Hashable, Codable {
    /// Approvals that were each within the tolerance.
    case approvals
    /// This many runs, none of which rose by more than the tolerance.
    case runs(count: Int)
  }

  package var metric: MetricName
  package var unit: String
  package var rise: Double
  package var anchor: Anchor
  package var span: Span

  package init(metric: MetricName, unit: String, rise: Double, anchor: Anchor, span: Span) {
    self.metric = metric
    self.unit = unit
    self.rise = rise
    self.anchor = anchor
    self.span = span
  }
}

extension ScenarioResult {
  /// Why the stored baseline cannot be compared with; nil if there is none, or if it can.
  package var baselineDefect: BaselineDefect? {
    notes.lazy.compactMap { if case .unusableBaseline(let defect) = $0 { defect } else { nil } }.first
  }

  /// The build or the revision with which the values are compared, as the user gave it; nil for a baseline.
  package var comparedBuild: String? {
    notes.lazy.compactMap { note in
      switch note {
      case .comparedWithBuild(let build): build
      case .comparedWithCommit(let revision, _): revision
      default: nil
      }
    }.first
  }
}
