/// How a repetition was measured.
///
/// Values of different methods are never compared.
package enum MeasurementMethod: String, Sendable, CaseIterable, Codable {
  /// Each process's own high-water mark, read at its exit; the tree's memory from its own cgroup.
  case tracedInCgroup = "traced+cgroup"
  /// Each process's own high-water mark, read at its exit.
  case traced
  /// Samples of `/proc` at intervals, with the tree's memory from its own cgroup.
  case sampledInCgroup = "sampled+cgroup"
  /// Samples of `/proc` at intervals: anything between the last sample and the end is missed.
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

/// How the memory of a process tree is counted.
package enum TreeMethod: String, Sendable, CaseIterable, Codable {
  /// Anonymous and shared memory of the target's own cgroup: each page once, without file pages.
  case cgroup
  /// Proportional set sizes (`Pss`) if available: a page that n processes share counts 1/n in each. Memory without a
  /// reading counts in full; a new copy by fork(2) counts with its growth since the fork.
  case proportional
  /// The sum of resident memory: shared pages count once per process.
  case upperBound = "upper-bound"
}
