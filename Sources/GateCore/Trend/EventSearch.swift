import FoundationEssentials

/// Groups the changes of all scenarios into events.
struct EventSearch {
  private let runs: [RunInfo]
  private let series: [ScenarioSeries]
  private let branch: String?
  private let commits: BranchCommits
  /// By number of the branch's series: the commits of its first and last run.
  private let spans: [Int: ClosedRange<Int>]

  /// The events of all branches, the newest first; of one run the one with the most scenarios.
  static func events(in series: [ScenarioSeries], runs: [RunInfo]) -> [TrendEvent] {
    let events = Set(series.map(\.branch)).flatMap { branch in
      let search = Self(branch, in: series, runs)
      return search.environmentAndStepEvents + search.creepEvents
    }
    let sorted = events.sorted { left, right in
      let (first, second) = (left.after.startedAt, right.after.startedAt)
      guard first == second else { return first > second }
      return (left.changes.count, right.id) > (right.changes.count, left.id)
    }
    return withUniqueIDs(sorted)
  }

  private init(_ branch: String?, in series: [ScenarioSeries], _ runs: [RunInfo]) {
    (self.runs, self.series, self.branch) = (runs, series, branch)
    let commits = BranchCommits(of: branch, in: runs)
    self.commits = commits
    let own = series.indices.filter { series[$0].branch == branch && !series[$0].runs.isEmpty }
    spans = Dictionary(
      uniqueKeysWithValues: own.map { number in
        let positions = series[number].runs.map { commits[$0.index] }
        return (number, (positions.min() ?? 0)...(positions.max() ?? 0))
      })
  }

  private static func withUniqueIDs(_ events: [TrendEvent]) -> [TrendEvent] {
    var counts: [String: Int] = [:]
    return events.map { event in
      var event = event
      counts[event.id, default: 0] += 1
      if let count = counts[event.id], count > 1 { event.id += "-\(count)" }
      return event
    }
  }
}

// MARK: - Steps

extension EventSearch {
  private var steps: [DatedStep] {
    spans.keys.sorted().flatMap { number in
      series[number].metrics.enumerated().flatMap { index, metric in
        metric.shifts.map { DatedStep($0, of: index, in: series[number], number: number, commits) }
      }
    }
  }

  private var environmentAndStepEvents: [TrendEvent] {
    let steps = steps
    let ofEnvironments = environmentGroups(steps.filter { !$0.environment.isEmpty })
    let ofCommits = commitGroups(steps.filter(\.environment.isEmpty))
    return ofEnvironments.map { event(of: $0) } + ofCommits.map { event(of: $0.steps, at: $0.commit) }
  }

  /// A new image reaches all runners of a CI system within about a week, which is doubled here.
  private static let longestRollout: TimeInterval = 14 * 24 * 3600

  /// Steps at the same change of the environment, in whichever run each scenario met it first.
  private func environmentGroups(_ steps: [DatedStep]) -> [[DatedStep]] {
    Dictionary(grouping: steps, by: \.environment).values.flatMap { same in
      same.sorted { ($0.runAfter, $0.series, $0.metric) < ($1.runAfter, $1.series, $1.metric) }
        .reduce(into: [[DatedStep]]()) { groups, step in
          if let group = groups.last, belongs(step, to: group) {
            groups[groups.count - 1].append(step)
          } else {
            groups.append([step])
          }
        }
    }
  }

  private func belongs(_ step: DatedStep, to group: [DatedStep]) -> Bool {
    guard let first = group.first, !group.contains(where: { $0.key == step.key }) else { return false }
    return runs[step.runAfter].startedAt.timeIntervalSince(runs[first.runAfter].startedAt) <= Self.longestRollout
  }

  /// The weight of a commit that is outside of a step's own runs, but possible.
  private static let weightOfPossible = 0.25

  /// The fewest events that explain all steps: each of the steps of an event can have happened at its commit.
  ///
  /// The commit at which most steps can have happened is an event; then the same for the remaining steps. All steps of an
  /// event share one commit, so a chain of neighbouring dates does not join distant ones.
  private func commitGroups(_ steps: [DatedStep]) -> [(commit: Int, steps: [DatedStep])] {
    var weights = [Double](repeating: 0, count: commits.count)
    func add(_ step: DatedStep, _ sign: Double) {
      let share = sign / Double(step.commits.count)
      for commit in step.possibleCommits {
        weights[commit] += step.commits.contains(commit) ? share : share * Self.weightOfPossible
      }
    }
    var left = Array(steps.indices)
    for step in steps { add(step, 1) }
    var groups: [(commit: Int, steps: [DatedStep])] = []
    while !left.isEmpty, let commit = weights.indices.max(by: { (weights[$0], $1) < (weights[$1], $0) }) {
      let (group, others) = Self.divided(left, of: steps, at: commit)
      // Rounding can leave a weight at a commit without steps.
      guard !group.isEmpty else {
        weights[commit] = -.infinity
        continue
      }
      for index in group { add(steps[index], -1) }
      groups.append((commit, group.map { steps[$0] }))
      left = others
    }
    return groups
  }

  /// The indices of steps that can have happened at a commit, of each metric the nearest one, and the others.
  private static func divided(
    _ left: [Int], of steps: [DatedStep], at commit: Int
  ) -> (group: [Int], others: [Int]) {
    func distance(_ step: DatedStep) -> Int {
      max(step.commits.lowerBound - commit, commit - step.commits.upperBound, 0)
    }
    var best: [[Int]: Int] = [:]
    for index in left where steps[index].possibleCommits.contains(commit) {
      if let known = best[steps[index].key], distance(steps[known]) <= distance(steps[index]) { continue }
      best[steps[index].key] = index
    }
    let chosen = Set(best.values)
    return (chosen.sorted(), left.filter { !chosen.contains($0) })
  }
}

// MARK: - Events

extension EventSearch {
  /// The event of steps at one commit, or at a change of the environment if there is none: its runs may be of several.
  private func event(of steps: [DatedStep], at commit: Int? = nil) -> TrendEvent {
    let dated = steps.filter { step in commit.map(step.commits.contains) ?? true }
    let certain = dated.isEmpty ? steps : dated
    let before: Int?
    let after: Int
    if commit == nil {
      before = certain.compactMap(\.runBefore).min()
      after = certain.map(\.runAfter).max() ?? 0
    } else {
      before = certain.compactMap(\.runBefore).max { commits[$0] < commits[$1] }
      after = certain.map(\.runAfter).min { commits[$0] < commits[$1] } ?? 0
    }
    let changes = steps.map(change).sorted(by: TrendEvent.Change.isListedBefore)
    let cause = cause(of: steps)
    return TrendEvent(
      id: name(runs[after]),
      kind: commit == nil ? .environment : kind(changes),
      branch: branch,
      before: before.map { runs[$0] },
      after: runs[after],
      changes: changes,
      measured: measured(before: before, after: after),
      cause: cause)
  }

  private func name(_ run: RunInfo) -> String {
    // The end of a version 7 UUID is random.
    run.commit.map { String($0.prefix(Self.digits)) } ?? String(run.id.suffix(12))
  }

  private static let digits = 9

  private func change(_ step: DatedStep) -> TrendEvent.Change {
    let metric = series[step.series].metrics[step.metric]
    let approval: Approval? = if case .approval(let approval) = step.shift.explanation { approval } else { nil }
    return TrendEvent.Change(
      series: step.series, scenario: series[step.series].name, environment: series[step.series].environment,
      metric: metric.metric, unit: metric.unit, before: step.shift.before, after: step.shift.after,
      chance: step.shift.chance, run: step.shift.index, approval: approval,
      persists: step.shift.persists)
  }

  /// If this part of the changes has one direction, the others do not make it mixed.
  private static let clearShare = 0.9

  private func kind(_ changes: [TrendEvent.Change]) -> TrendEvent.Kind {
    let rises = Double(changes.count { $0.size > 0 }) / Double(changes.count)
    return rises >= Self.clearShare ? .rise : rises <= 1 - Self.clearShare ? .fall : .mixed
  }

  private func cause(of steps: [DatedStep]) -> TrendEvent.Cause {
    let explanations = steps.compactMap(explanation)
    let counts = Dictionary(grouping: explanations) { $0.finding.culprit?.change.function }
    return TrendEvent.Cause(
      environment: steps.first?.environment ?? [],
      explanation: counts.values.max { $0.count < $1.count }?.first)
  }

  /// The first explanation between a step and the next one.
  private func explanation(of step: DatedStep) -> RiseExplanation? {
    let series = series[step.series]
    let next = series.metrics[step.metric].shifts.first { $0.index > step.shift.index }?.index ?? series.runs.count
    return series.runs[step.shift.index..<next].lazy.compactMap(\.explanation).first { $0.finding.culprit != nil }
  }

  /// The number of scenarios with runs at these or earlier and later commits.
  private func measured(before: Int?, after: Int) -> Int {
    let (first, last) = (before.map { commits[$0] } ?? 0, commits[after])
    let measured = spans.filter { $0.value.lowerBound <= max(first, 0) && $0.value.upperBound >= last }
    return Set(measured.keys.map { series[$0].name }).count
  }
}

// MARK: - Creep

extension EventSearch {
  private struct DatedCreep {
    let series: Int
    let unit: String
    let creep: Creep
  }

  /// Creep of several scenarios is one event if each began in the first half of the longest: all of them last until now.
  private var creepEvents: [TrendEvent] {
    var left = spans.keys.flatMap { number in
      series[number].metrics.compactMap { metric in
        metric.creep.map { DatedCreep(series: number, unit: metric.unit, creep: $0) }
      }
    }
    left.sort { ($0.creep.anchor.at, $0.series, $0.creep.metric) < ($1.creep.anchor.at, $1.series, $1.creep.metric) }
    var events: [TrendEvent] = []
    while let leader = left.first, let latest = latestRun(of: left.map(\.series)) {
      let start = leader.creep.anchor.at
      let middle = start.addingTimeInterval(runs[latest].startedAt.timeIntervalSince(start) / 2)
      let group = left.prefix { $0.creep.anchor.at <= middle }
      events.append(event(of: Array(group), until: latest))
      left.removeFirst(group.count)
    }
    return events
  }

  private func latestRun(of series: [Int]) -> Int? { series.compactMap { self.series[$0].runs.last?.index }.max() }

  private func event(of creeps: [DatedCreep], until latest: Int) -> TrendEvent {
    let changes = creeps.map { one in
      let anchor = one.creep.anchor.level
      return TrendEvent.Change(
        series: one.series, scenario: series[one.series].name, environment: series[one.series].environment,
        metric: one.creep.metric, unit: one.unit, before: anchor, after: anchor + one.creep.rise, persists: true)
    }
    let start = creeps.map(\.creep.anchor.at).min()
    let before = runs.indices.first { runs[$0].branch == branch && runs[$0].startedAt == start }
    return TrendEvent(
      id: "creep", kind: .creep, branch: branch, before: before.map { runs[$0] }, after: runs[latest],
      changes: changes.sorted(by: TrendEvent.Change.isListedBefore),
      measured: measured(before: before, after: latest), cause: TrendEvent.Cause())
  }
}
