#if InstanceProfiler

/// What has changed between two releases, or within one.
public struct SnapshotDiff: Sendable, Hashable {
  /// One class whose number of living instances has changed.
  public enum Change: Sendable, Hashable {
    /// Has more instances than before.
    case grown(name: String, before: Int, after: Int)
    /// Had no instances before.
    case new(name: String, count: Int)
    /// Has no instances any more: information only.
    case vanished(name: String, count: Int)
    /// Has gained so many instances per iteration (the median).
    case growing(name: String, perIteration: Int)
  }

  /// The changes, by the names of the classes.
  public let changes: [Change]

  /// The changes that point to a leak or to more memory.
  public var flagged: [Change] {
    changes.filter {
      if case .vanished = $0 { false } else { true }
    }
  }
}

extension SnapshotDiff {
  /// The least rise that is told, in instances and in percent of the earlier number.
  private static let leastRise = (instances: 50, percent: 20)
  /// The least number of iterations for a growth.
  private static let leastIterations = 10

  /// Compares snapshots with the same label in two releases.
  ///
  /// The least number of several snapshots counts, because objects that a snapshot catches by chance are no change: take
  /// three of each.
  ///
  /// - Returns: nil if there is nothing to compare, or if builds, hooks or labels differ.
  public init?(from before: [InstanceSnapshot], to after: [InstanceSnapshot]) {
    let all = before + after
    guard let first = all.first, !before.isEmpty, !after.isEmpty else { return nil }
    let areComparable = all.allSatisfy { ($0.label, $0.build, $0.hook) == (first.label, first.build, first.hook) }
    guard areComparable else { return nil }
    let (old, new) = (Self.least(of: before), Self.least(of: after))
    changes = Set(old.keys).union(new.keys).sorted().compactMap { name in
      Self.change(of: name, from: old[name] ?? 0, to: new[name] ?? 0)
    }
  }

  /// Finds the classes that gain instances with each iteration, of which each snapshot is one; none below 10 iterations.
  public init(iterations: [InstanceSnapshot]) {
    guard iterations.count >= Self.leastIterations else {
      changes = []
      return
    }
    let counts = iterations.map(Self.live)
    changes = Set(counts.flatMap(\.keys)).sorted().compactMap { name in
      let series = counts.map { $0[name] ?? 0 }
      let rises = zip(series.dropFirst(), series).map { $0 - $1 }.sorted()
      let rise = rises[rises.count / 2]
      return rise >= 1 ? .growing(name: name, perIteration: rise) : nil
    }
  }

  private static func change(of name: String, from before: Int, to after: Int) -> Change? {
    switch (before, after) {
    case (0, _): return after >= leastRise.instances ? .new(name: name, count: after) : nil
    case (_, 0): return .vanished(name: name, count: before)
    default:
      let isRise = after - before >= max(leastRise.instances, before * leastRise.percent / 100)
      return isRise ? .grown(name: name, before: before, after: after) : nil
    }
  }

  /// The living instances by class, without untracked classes.
  private static func live(of snapshot: InstanceSnapshot) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: snapshot.classes.filter { $0.isTracked }.map { ($0.name, $0.live) })
  }

  private static func least(of snapshots: [InstanceSnapshot]) -> [String: Int] {
    let all = snapshots.map(live)
    return Set(all.flatMap(\.keys)).reduce(into: [:]) { least, name in
      let count = all.map { $0[name] ?? 0 }.min() ?? 0
      if count > 0 { least[name] = count }
    }
  }
}

#endif
