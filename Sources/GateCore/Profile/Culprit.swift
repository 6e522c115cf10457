import FoundationEssentials

/// The function that explains why a process's anonymous memory rose.
package struct Culprit: Sendable, Hashable, Codable {
  package var change: FunctionChange
  /// The share of the metric's rise that it explains, or without a check of the process's rise; at most 1.
  package var share: Double
  /// What all other memory of the process fell by, where the function holds clearly more than the rise; nil if it does not.
  package var othersFell: Bytes?
  /// Whether no more was allocated than before: then its memory is released later, or not at all.
  package var isReleasedLater: Bool
  /// What another function holds at the same time, if its memory is released later.
  package var heldWith: FunctionChange?
  /// What of it others hold that it calls: a function of an installed package with a good part, or several that together have
  /// most.
  package var parts: [FunctionChange]
  /// What released such memory in the other build, and releases less of it now.
  package var formerRelease: FunctionChange?
  /// What releases such memory instead, and so keeps it until then; nil if nothing does.
  package var laterRelease: FunctionChange?
  /// How many processes of this name hold it in each build; nil if there are as many as before.
  package var processes: ProcessCounts?

  package struct ProcessCounts: Sendable, Hashable, Codable {
    package var before: Int
    package var now: Int

    package init(before: Int, now: Int) { (self.before, self.now) = (before, now) }
  }

  package init(
    change: FunctionChange, share: Double, othersFell: Bytes? = nil, isReleasedLater: Bool = false,
    heldWith: FunctionChange? = nil, parts: [FunctionChange] = [], formerRelease: FunctionChange? = nil,
    laterRelease: FunctionChange? = nil
  ) {
    (self.change, self.share, self.isReleasedLater, self.heldWith) = (change, share, isReleasedLater, heldWith)
    self.othersFell = othersFell
    (self.parts, self.formerRelease, self.laterRelease) = (parts, formerRelease, laterRelease)
  }
}

extension Culprit {
  private enum CodingKeys: CodingKey {
    case change, share, othersFell, isReleasedLater, heldWith, parts, formerRelease, laterRelease, processes
  }
}

/// Whether a function explains a rise, and why none does.
///
/// It is indirect, since trends have many runs without one.
package indirect enum CulpritFinding: Sendable, Hashable, Codable {
  case named(culprit: Culprit)
  /// The anonymous memory did not rise.
  case noRise
  /// It did not, though a metric of the check did.
  case notReproduced
  /// Most of the rise is memory that is not anonymous.
  case mapped(rise: MappedRise)
  /// The builds were not measured in the same way.
  case otherMethod(before: MemoryProfile.Method, now: MemoryProfile.Method)
  /// No function rose clearly more than equal repetitions differ: the largest rise, the least that is clear, and whether it
  /// is most of what a check has judged, so that it is likely all the same.
  case belowNoise(largest: FunctionChange?, least: Bytes, isLikely: Bool)
  /// No function holds enough of the rise: those that rose most.
  case spread(largest: [FunctionChange])
  /// Most of the rise is in a collected heap, whose objects have no call stacks.
  case unsampledHeap(of: CollectedRuntime, rise: Bytes, reason: HeapObstacle)
  /// Most of the rise is memory without a holder.
  case other(part: MemoryPart, rise: Bytes)
  /// Most of what grew did not go on growing.
  case ended(rise: Bytes)
  /// Only the new build was profiled: the functions that hold most, each without what those that it calls hold.
  case holding(largest: [FunctionChange])

  package var culprit: Culprit? {
    if case .named(let culprit) = self { culprit } else { nil }
  }

  /// Whether it leaves open what rose, so that another metric that rose may show it better.
  package var isVague: Bool {
    switch self {
    case .noRise, .notReproduced, .belowNoise, .spread: true
    default: false
    }
  }

  /// The functions through which the memory rose; empty if none is known.
  package var functions: [FunctionChange] {
    switch self {
    case .named(let culprit): [culprit.change, culprit.formerRelease, culprit.laterRelease].compactMap(\.self)
    case .spread(let largest), .holding(let largest): largest
    // Not named, but what changed there is as true.
    case .belowNoise(let largest?, _, _): [largest]
    default: []
    }
  }

  /// Their call stacks, each with its innermost function first.
  package var stacks: [[StackFrame]] { functions.map(\.frames).filter { !$0.isEmpty } }
}
