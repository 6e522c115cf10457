/// What the processes of one repetition held.
package struct ProfiledRepetition: Sendable, Equatable {
  /// The name of the main process; nil if unknown.
  package var main: String?
  /// One for each name and moment, in descending order of memory.
  package var profiles: [MemoryProfile]

  package init(main: String?, profiles: [MemoryProfile]) {
    (self.main, self.profiles) = (main, profiles)
  }

  package func profile(of name: String?, at moment: MemoryProfile.Moment = .peak) -> MemoryProfile? {
    profiles.first { $0.process == name && $0.moment == moment && $0.rank == nil }
  }

  /// The profile that is a part of a summary.
  package func profile(like summary: ProfileSummary) -> MemoryProfile? {
    profiles.first { ($0.process, $0.moment, $0.rank) == (summary.process, summary.moment, summary.rank) }
  }
}

extension ExplainedRise {
  /// When the memory counts.
  package var moment: MemoryProfile.Moment { self == .peak ? .peak : .end }

  /// When the memory counts with which it is compared.
  package var earlierMoment: MemoryProfile.Moment { self == .growth ? .early : moment }

  /// The rise behind a regression of these metrics; nil if none is of memory.
  package init?(of metrics: [MetricName]) {
    // A phase may be over at the end, so that only the peak can show what it held.
    let rises = Set(metrics.compactMap { $0.inPhase == nil ? $0.row?.explained : .peak })
    guard !rises.isEmpty else { return nil }
    self = rises == [.growth] ? .growth : rises.contains(.peak) ? .peak : .steady
  }
}

/// What the processes of one build held in several repetitions: those of one name together, and one by one.
package struct ProfiledBuild: Sendable, Equatable {
  /// The ID of the check that profiled it; nil if that was `explain`.
  package var run: String?
  /// The ID of the run whose baseline it belongs to, if a check took it for an approved build.
  package var baseline: String?
  /// The name of the main process.
  package var main: String
  /// At each moment, the one that holds most first; never empty.
  package var processes: [ProfileSummary]
  /// By the names of processes.
  package var releases: [String: Releases]

  /// Of several processes of one name so many count one by one, so that two builds have the same places.
  private static let mostRanks = 4

  /// nil without a process.
  package init?(
    main: String?, processes: [ProfileSummary], releases: [String: Releases] = [:], run: String? = nil,
    baseline: String? = nil
  ) {
    self.releases = releases
    let sorted = processes.filter { $0.rank ?? 1 <= Self.mostRanks }.sorted {
      ($0.rank == nil ? 0 : 1, $1.ownMemory) < ($1.rank == nil ? 0 : 1, $0.ownMemory)
    }
    guard let first = sorted.first else { return nil }
    let known = sorted.contains { $0.process == main } ? main : nil
    (self.main, self.processes, self.run) = (known ?? first.process, sorted, run)
    self.baseline = baseline
  }

  private struct Key: Hashable {
    let process: String
    let moment: MemoryProfile.Moment
    let rank: Int?
  }

  /// nil if no repetition has a profile.
  package init?(_ repetitions: [ProfiledRepetition]) {
    let all = Dictionary(grouping: repetitions.flatMap(\.profiles)) {
      Key(process: $0.process, moment: $0.moment, rank: $0.rank)
    }
    let keys = all.keys.sorted { ($0.process, $0.rank ?? 0) < ($1.process, $1.rank ?? 0) }
    let summaries = keys.compactMap { key in all[key].flatMap { ProfileSummary($0) } }
    let released = summaries.filter { $0.moment == .releases }.map { ($0.process, Releases($0)) }
    self.init(
      main: repetitions.lazy.compactMap(\.main).first, processes: summaries.filter { $0.moment != .releases },
      releases: Dictionary(released, uniquingKeysWith: { first, _ in first }))
  }

  /// The comparison of the process whose memory is to be explained; nil if none has a profile of that moment.
  ///
  /// Growth is the rise from an early moment to the end of the same repetitions. Where equal repetitions differ too much to
  /// name a function of one process, all of its name may show it, and the other way round.
  package func comparison(
    with before: ProfiledBuild?, of rise: MeasuredRise = MeasuredRise(.peak)
  ) -> ProfileComparison? {
    let pairs = ProcessPairs(self, before: rise.kind == .growth ? self : before, of: rise.kind)
    let comparisons = pairs.choices(for: rise).map { comparison(of: $0, rise) }
    guard var found = comparisons.first(where: { $0.finding?.culprit != nil }) ?? comparisons.first else { return nil }
    found.releases = releases[found.now.process]
    found.releasesBefore = found.before.flatMap { before?.releases[$0.process] }
    return found
  }

  private func comparison(of pair: ProcessPairs.Pair, _ rise: MeasuredRise) -> ProfileComparison {
    var comparison = ProfileComparison(before: pair.before, now: pair.now)
    (comparison.explained, comparison.measured) = (rise.kind, rise.amount)
    comparison.excludesMappings = rise.excludesMappings
    switch rise.kind {
    case .growth: comparison.middle = summary(of: pair.now, at: .middle)
    case .peak: comparison.end = summary(of: pair.now, at: .end)
    case .steady: break
    }
    return comparison
  }

  private func summary(of process: ProfileSummary, at moment: MemoryProfile.Moment) -> ProfileSummary? {
    processes.first { $0.moment == moment && $0.process == process.process && $0.rank == process.rank }
  }
}
