/// The processes of two builds that belong together.
struct ProcessPairs {
  /// Processes of one name, or one of them, in both builds; nothing is before if there is only one build.
  typealias Pair = (before: ProfileSummary?, now: ProfileSummary)

  /// Those of one name together, the one that holds most first.
  private let sums: [Pair]
  /// One process each: those of one name by what they hold.
  private let single: [Pair]
  private let main: String

  /// Several processes of one name rose if they did by this multiple of what one of them did.
  private static let severalFactor = 1.5

  init(_ build: ProfiledBuild, before: ProfiledBuild?, of rise: ExplainedRise) {
    main = build.main
    let now = build.processes.filter { $0.moment == rise.moment }
    guard let before else {
      sums = now.filter { $0.rank == nil }.map { (nil, $0) }
      single = []
      return
    }
    let old = before.processes.filter { $0.moment == rise.earlierMoment }
    let all = now.filter { $0.rank == nil }
    let counterparts = Self.counterparts(all, main: main, in: old.filter { $0.rank == nil }, main: before.main)
    sums = all.map { (counterparts[$0.process] ?? $0.withoutMemory, $0) }
    // At two moments of one run the places of processes may differ.
    single =
      rise == .growth
      ? []
      : sums.flatMap { sum -> [Pair] in
        let old = sum.before.map { old.single($0) } ?? []
        // A stored profile may have only the sum of several processes.
        guard old.first?.rank != nil || sum.before?.processes ?? 1 == 1 else { return [] }
        return now.single(sum.now).enumerated().map { index, one in
          (index < old.count ? old[index] : one.withoutMemory, one)
        }
      }
  }

  /// The processes to compare: those that rose clearly, the main one if it rose at least half as much as another; without
  /// another build, those that hold most.
  ///
  /// Processes of one name count together if that is nearer to the rise of a tree, or if several of them rose and it is
  /// unknown whose rise it is; the other way comes second.
  func choices(for rise: MeasuredRise) -> [Pair] {
    guard let sum = largest(of: sums) else { return [] }
    guard let one = largest(of: single), Self.isClear(one) else { return [sum] }
    guard let amount = rise.amount else {
      let haveSeveralRisen = Double(Self.rise(of: sum)) >= Self.severalFactor * Double(Self.rise(of: one))
      return Self.isClear(sum) && (rise.isOfTree || haveSeveralRisen) ? [sum, one] : [one, sum]
    }
    func distance(_ pair: Pair) -> UInt64 { (Self.rise(of: pair) - amount.count).magnitude }
    return rise.isOfTree && distance(sum) <= distance(one) ? [sum, one] : [one, sum]
  }

  private func largest(of pairs: [Pair]) -> Pair? {
    let largest = pairs.filter(Self.isClear).max { Self.rise(of: $0) < Self.rise(of: $1) }
    let own = pairs.filter { $0.now.process == main }.max { Self.rise(of: $0) < Self.rise(of: $1) }
    guard pairs.first?.before != nil, let own else { return largest ?? pairs.first }
    guard let largest, Self.rise(of: own) < Self.rise(of: largest) / 2 || !Self.isClear(own) else { return own }
    return largest
  }

  private static func rise(of pair: Pair) -> Int64 {
    pair.before.map { pair.now.ownMemory - $0.ownMemory } ?? 0
  }

  private static func isClear(_ pair: Pair) -> Bool {
    let spread = max(pair.before?.anonymous.spread ?? 0, pair.now.anonymous.spread)
    return rise(of: pair) > ProfileNoise.clearFactor * max(ProfileNoise.page, spread)
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
}

extension [ProfileSummary] {
  /// The single processes of a name, the largest first.
  fileprivate func single(_ sum: ProfileSummary) -> [ProfileSummary] {
    let single = filter { $0.process == sum.process && $0.rank != nil }
    return single.isEmpty ? [sum] : single.sorted { ($0.rank ?? 0) < ($1.rank ?? 0) }
  }
}

extension ProfileSummary {
  /// That of a process that did not run.
  fileprivate var withoutMemory: ProfileSummary {
    ProfileSummary(
      process: process, method: method, repetitions: repetitions, samplingInterval: samplingInterval, peak: .zero,
      anonymous: .zero, parts: [:])
  }
}
