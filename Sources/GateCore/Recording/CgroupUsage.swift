/// What the kernel counted in the target's own memory cgroup until its end; unlike resident memory it includes the page
/// cache and the kernel's memory that are charged to it.
package struct CgroupUsage: Sendable, Hashable, Codable {
  /// The most memory at one time (v1 `memory.max_usage_in_bytes`, v2 `memory.peak`, since Linux 5.19).
  package var peak: Bytes?
  /// How often it hit its limit (v1 `memory.failcnt`, v2 `max` of `memory.events`).
  package var limitHits: Int64?
  /// How many pages of files it had thrown out and read again (`workingset_refault_file` of `memory.stat`).
  package var refaults: Int64?

  package init(peak: Bytes? = nil, limitHits: Int64? = nil, refaults: Int64? = nil) {
    (self.peak, self.limitHits, self.refaults) = (peak, limitHits, refaults)
  }

  /// What was counted after `before`; a peak that is not higher than that one is unknown.
  package func since(_ before: CgroupUsage) -> CgroupUsage {
    func rise(_ now: Int64?, _ then: Int64?) -> Int64? { now.map { $0 - (then ?? 0) } }
    return CgroupUsage(
      peak: peak.flatMap { $0 > before.peak ?? .zero ? $0 : nil }, limitHits: rise(limitHits, before.limitHits),
      refaults: rise(refaults, before.refaults))
  }
}

/// How this machine limits the memory of targets.
package struct MemoryLimiting: Sendable, Equatable {
  /// What targets at their limit do with swap.
  package enum Swap: String, Sendable, Codable {
    /// The machine has none.
    case none
    /// The limit leaves them none.
    case forbidden
    /// The kernel does not count swap by cgroup, so that they may use some.
    case possible
  }

  /// Why no limit can be set; nil if one can.
  package var obstacle: CgroupError?
  package var swap: Swap
  /// The size of a memory page.
  package var page: Bytes
  /// By how much equal runs may differ: each CPU may hold a batch of charged pages that it does not use.
  package var batches: Bytes
  /// The highest useful limit: the machine's memory, or the lowest limit around the runner.
  package var largest: Bytes

  package init(
    obstacle: CgroupError? = nil,
    swap: Swap = .none,
    page: Bytes = .usualPage,
    batches: Bytes,
    largest: Bytes
  ) {
    (self.obstacle, self.swap, self.page, self.batches, self.largest) = (obstacle, swap, page, batches, largest)
  }
}
