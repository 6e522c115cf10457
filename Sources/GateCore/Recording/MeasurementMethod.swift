/// How a repetition was measured.
///
/// Values of different methods are never compared.
package enum MeasurementMethod: String, Sendable, CaseIterable, Codable {
  /// Each process's own high-water mark, read when it ends; the tree's memory from a cgroup of its own.
  case tracedInCgroup = "traced+cgroup"
  /// Each process's own high-water mark, read when it ends.
  case traced
  /// Readings of `/proc` at intervals, with the tree's memory from a cgroup of its own.
  case sampledInCgroup = "sampled+cgroup"
  /// Readings of `/proc` at intervals: what happens between the last one and the end is missed.
  case sampled

  package init(isTraced: Bool, inCgroup: Bool) {
    switch (isTraced, inCgroup) {
    case (true, true): self = .tracedInCgroup
    case (true, false): self = .traced
    case (false, true): self = .sampledInCgroup
    case (false, false): self = .sampled
    }
  }

  package var isTraced: Bool { self == .tracedInCgroup || self == .traced }
  package var isInCgroup: Bool { self == .tracedInCgroup || self == .sampledInCgroup }
}

/// What the values of a process tree count.
package enum TreeMethod: String, Sendable, CaseIterable, Codable {
  /// Anonymous and shared memory of the target's own cgroup: each page once, file pages not at all.
  case cgroup
  /// Proportional set sizes (`Pss`) as far as they could be read: a page that n processes share counts 1/n in each.
  /// What was not yet read counts in full, a fresh copy by fork(2) with what it has gained since.
  case proportional
  /// The sum of resident memory: shared pages count once for each process.
  case upperBound = "upper-bound"
}
