/// How a repetition was measured.
///
/// Sampled and traced values are never compared, nor are those of process trees with and without a cgroup.
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
///
/// It is the resident memory of the main process, and the anonymous memory of the others. The methods differ in the
/// anonymous memory that processes share after a fork(2).
package enum TreeMethod: String, Sendable, CaseIterable, Codable {
  /// The count of the target's own cgroup replaces the sum where it differs: each page counts once.
  case cgroup
  /// Proportional set sizes (`Pss_Anon`): a page that n processes share counts 1/n in each. A new copy by fork(2) counts
  /// with its growth since the fork until its mappings have been read.
  case proportional
  /// No mappings were read: a copy by fork(2) counts with its growth, or in full if its fork was not seen.
  case upperBound = "upper-bound"

  /// Whether trees that are counted in these ways can be compared: the shares of a sum may not have been read yet in a
  /// short run.
  package func isComparable(to other: TreeMethod) -> Bool {
    (self == .cgroup) == (other == .cgroup)
  }
}
