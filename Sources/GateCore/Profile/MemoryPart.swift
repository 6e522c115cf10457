/// A part of a process's anonymous memory; the parts add up to it.
package enum MemoryPart: Sendable, Hashable {
  /// Live blocks on the heap, by who allocated them.
  case live
  /// Pages outside the heap, by who touched them first.
  case touched
  /// Pages that a runtime with a garbage collector manages: who touched them first does not hold them.
  case collectedHeap(CollectedRuntime)
  /// The heap, if allocations were not sampled.
  case heap
  /// Of a heap whose live blocks are known: the allocator's data and holes.
  case heapOverhead
  case unattributed(MemoryProfile.Cause)
}
