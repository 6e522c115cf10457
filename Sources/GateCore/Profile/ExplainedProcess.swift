/// What the processes of one repetition held.
package struct ProfiledRepetition: Sendable, Equatable {
  /// The name of the main process; nil if unknown.
  package var main: String?
  /// One for each name, in descending order of memory.
  package var profiles: [MemoryProfile]

  package init(main: String?, profiles: [MemoryProfile]) {
    (self.main, self.profiles) = (main, profiles)
  }

  /// An estimate of all that was allocated in small blocks, freed ones too.
  package var allocated: Bytes { Bytes(profiles.reduce(0) { $0 + $1.allocated.count }) }

  fileprivate func profile(of name: String?) -> MemoryProfile? { profiles.first { $0.process == name } }
}

/// The processes of one name in the repetitions of two builds: those whose memory is to be explained.
package struct ExplainedProcess: Sendable, Equatable {
  /// Empty without repetitions of another build.
  package let before: [MemoryProfile]
  package let now: [MemoryProfile]

  /// A rise is clear above this multiple of the largest difference between equal repetitions, as that of a function.
  private static let clearFactor: Int64 = 3
  /// The least that differences are, in bytes: a process's memory is counted in pages.
  private static let page: Int64 = 4096

  /// Of all processes that rose clearly, the one that rose most, but the main one if it did at least half as much; the
  /// main one if none did.
  ///
  /// Without repetitions of another build, the one named like an earlier profile's, or else the one that holds most. nil
  /// if there is no profile.
  package init?(before: [ProfiledRepetition], now: [ProfiledRepetition], base: String? = nil) {
    let names = Self.names(of: now)
    guard let first = names.first else { return nil }
    let main = now.lazy.compactMap(\.main).first { names.contains($0) } ?? first
    let others = Self.otherNames(before, now, main: main)
    let all = names.map { name in
      let now = now.compactMap { $0.profile(of: name) }
      let before = before.map { $0.profile(of: others[name]) ?? now[0].withoutMemory }
      return (name: name, process: Self(before: before, now: now))
    }
    let rises = all.filter(\.process.isClear).sorted { $0.process.rise > $1.process.rise }
    let chosen =
      if let base { names.contains(base) ? base : main } else if before.isEmpty { first } else if let most = rises.first {
        rises.first { $0.name == main && 2 * $0.process.rise.count >= most.process.rise.count }?.name ?? most.name
      } else { main }
    guard let process = all.first(where: { $0.name == chosen })?.process else { return nil }
    self = process
  }

  private init(before: [MemoryProfile], now: [MemoryProfile]) {
    (self.before, self.now) = (before, now)
  }

  /// The names of processes, the one that holds most first.
  private static func names(of repetitions: [ProfiledRepetition]) -> [String] {
    let profiles = repetitions.flatMap(\.profiles).sorted { $0.ownMemory > $1.ownMemory }
    var seen: Set<String> = []
    return profiles.map(\.process).filter { seen.insert($0).inserted }
  }

  /// The names in the other build: its main process may have another one, and so may one of its other processes.
  private static func otherNames(
    _ before: [ProfiledRepetition], _ now: [ProfiledRepetition], main: String
  ) -> [String: String] {
    let (old, new) = (names(of: before), names(of: now))
    var others = Dictionary(uniqueKeysWithValues: new.filter(old.contains).map { ($0, $0) })
    others[main] = before.lazy.compactMap(\.main).first { old.contains($0) } ?? others[main] ?? old.first
    let (oldRest, newRest) = (old.filter { !others.values.contains($0) }, new.filter { others[$0] == nil })
    if let rest = newRest.first, newRest.count == 1, oldRest.count == 1 { others[rest] = oldRest[0] }
    return others
  }

  private var rise: Bytes { now.medianMemory - before.medianMemory }

  private var isClear: Bool { rise.count > Self.clearFactor * max(Self.page, now.memorySpread, before.memorySpread) }
}

extension MemoryProfile {
  /// That of a process that did not run.
  fileprivate var withoutMemory: MemoryProfile {
    MemoryProfile(
      process: process, method: method, peak: .zero, anonymous: .zero, calls: CallTree(),
      samplingInterval: samplingInterval)
  }
}

extension [MemoryProfile] {
  private var ownMemories: [Int64] { map(\.ownMemory.count).sorted() }

  fileprivate var medianMemory: Bytes { Bytes(isEmpty ? 0 : ownMemories[(count - 1) / 2]) }

  fileprivate var memorySpread: Int64 { (ownMemories.last ?? 0) - (ownMemories.first ?? 0) }
}
