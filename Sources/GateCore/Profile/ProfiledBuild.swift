/// What the processes of one repetition held.
package struct ProfiledRepetition: Sendable, Equatable {
  /// The name of the main process; nil if unknown.
  package var main: String?
  /// One for each name and moment, in descending order of memory.
  package var profiles: [MemoryProfile]

  package init(main: String?, profiles: [MemoryProfile]) {
    (self.main, self.profiles) = (main, profiles)
  }

  /// An estimate of all that was allocated in small blocks, freed ones too.
  package var allocated: Bytes { Bytes(profiles.reduce(0) { $0 + $1.allocated.count }) }

  package func profile(of name: String?, at moment: MemoryProfile.Moment = .peak) -> MemoryProfile? {
    profiles.first { $0.process == name && $0.moment == moment }
  }
}

/// Which rise is explained; named like the metric that it is of.
package enum ExplainedRise: String, Sendable, Hashable, CaseIterable, Codable {
  case peak = "peak_rss"
  case steady = "steady_rss"
  case growth

  /// When the memory counts.
  package var moment: MemoryProfile.Moment { self == .peak ? .peak : .end }

  /// When the memory counts with which it is compared.
  package var earlierMoment: MemoryProfile.Moment { self == .growth ? .early : moment }

  /// The rise behind a regression of these metrics; nil if none is of memory.
  package init?(of metrics: [MetricName]) {
    let metrics = metrics.filter { !$0.isValue && ![.faultRate, .limit].contains($0) }
    guard !metrics.isEmpty else { return nil }
    let isSteady = metrics.allSatisfy { [.growth, .steadyRSS, .treeSteady].contains($0) }
    self = metrics.allSatisfy { $0 == .growth } ? .growth : isSteady ? .steady : .peak
  }
}

/// What the processes of one build held in several repetitions, those of one name together.
package struct ProfiledBuild: Sendable, Equatable {
  /// The ID of the check that profiled it; nil if that was `explain`.
  package var run: String?
  /// The name of the main process.
  package var main: String
  /// At each moment, the one that holds most first; never empty.
  package var processes: [ProfileSummary]

  /// A rise is clear above this multiple of the largest difference between equal repetitions, as that of a function.
  private static let clearFactor: Int64 = 3
  /// The least that differences are, in bytes: a process's memory is counted in pages.
  private static let page: Int64 = 4096

  /// nil without a process.
  package init?(main: String?, processes: [ProfileSummary], run: String? = nil) {
    let sorted = processes.sorted { $0.ownMemory > $1.ownMemory }
    guard let first = sorted.first else { return nil }
    let known = sorted.contains { $0.process == main } ? main : nil
    (self.main, self.processes, self.run) = (known ?? first.process, sorted, run)
  }

  /// nil if no repetition has a profile.
  ///
  /// Inlined functions count for their callers, since another build may have no debug information.
  package init?(_ repetitions: [ProfiledRepetition]) {
    let all = repetitions.flatMap(\.profiles).map { $0.withoutInlined() }
    let summaries = Set(all.map(\.process)).flatMap { name in
      MemoryProfile.Moment.allCases.compactMap { moment in
        ProfileSummary(all.filter { $0.process == name && $0.moment == moment })
      }
    }
    self.init(main: repetitions.lazy.compactMap(\.main).first, processes: summaries)
  }

  /// The comparison of the process whose memory is to be explained; nil if none has a profile of that moment.
  ///
  /// Of all processes that rose clearly over another build, that is the one that rose most, but the main one if it did at
  /// least half as much; the main one if none did. Without another build, it is the one that holds most. Growth is the
  /// rise from an early moment to the end of the same repetitions.
  package func comparison(with before: ProfiledBuild?, of rise: ExplainedRise = .peak) -> ProfileComparison? {
    guard let pair = choice(from: pairs(with: rise == .growth ? self : before, of: rise)) else { return nil }
    var comparison = ProfileComparison(before: pair.before, now: pair.now)
    comparison.explained = rise
    if rise == .growth { comparison.middle = processes(at: .middle).first { $0.process == pair.now.process } }
    return comparison
  }

  /// The processes of one name in both builds; nothing is before if there is only one build.
  private typealias Pair = (before: ProfileSummary?, now: ProfileSummary)

  private func choice(from all: [Pair]) -> Pair? {
    let largest = all.filter(Self.isClear).max { Self.rise(of: $0) < Self.rise(of: $1) }
    guard all.first?.before != nil, let own = all.first(where: { $0.now.process == main }) else {
      return largest ?? all.first
    }
    guard let largest, Self.rise(of: own) < Self.rise(of: largest) / 2 || !Self.isClear(own) else { return own }
    return largest
  }

  private func pairs(with before: ProfiledBuild?, of rise: ExplainedRise) -> [Pair] {
    let now = processes(at: rise.moment)
    guard let before else { return now.map { (nil, $0) } }
    let old = before.processes(at: rise.earlierMoment)
    let counterparts = Self.counterparts(now, main: main, in: old, main: before.main)
    let repetitions = before.processes[0].repetitions
    return now.map { (counterparts[$0.process] ?? $0.withoutMemory(repetitions), $0) }
  }

  private static func rise(of pair: Pair) -> Int64 {
    pair.before.map { pair.now.ownMemory - $0.ownMemory } ?? 0
  }

  private func processes(at moment: MemoryProfile.Moment) -> [ProfileSummary] {
    processes.filter { $0.moment == moment }
  }

  /// The processes of the other build by the names of this one's: its main process may have another name, and so may one
  /// of its other processes.
  private static func counterparts(
    _ now: [ProfileSummary], main: String, in before: [ProfileSummary], main oldMain: String
  ) -> [String: ProfileSummary] {
    var found: [String: ProfileSummary] = [:]
    for process in now {
      let name = process.process == main ? oldMain : process.process
      found[process.process] = before.first { $0.process == name }
    }
    let taken = Set(found.values.map(\.process))
    let rest = before.filter { !taken.contains($0.process) }
    let new = now.filter { found[$0.process] == nil }
    if rest.count == 1, new.count == 1 { found[new[0].process] = rest[0] }
    return found
  }

  private static func isClear(_ pair: Pair) -> Bool {
    let spread = max(pair.before?.anonymous.spread ?? 0, pair.now.anonymous.spread)
    return rise(of: pair) > clearFactor * max(page, spread)
  }
}

extension ProfileSummary {
  /// That of a process that did not run.
  fileprivate func withoutMemory(_ repetitions: Int) -> ProfileSummary {
    ProfileSummary(
      process: process, method: method, repetitions: repetitions, samplingInterval: samplingInterval, peak: .zero,
      anonymous: .zero, parts: [:])
  }
}
