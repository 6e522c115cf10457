/// The allocations of one repetition.
package struct AllocationReading: Sendable, Equatable {
  package var counts: [CountMetric: Int64]
  /// Why nothing was counted; nil if something was.
  package var refusal: AllocationRefusal?

  package init(counts: [CountMetric: Int64] = [:], refusal: AllocationRefusal? = nil) {
    (self.counts, self.refusal) = (counts, refusal)
  }
}

/// Why allocations were not counted.
package enum AllocationRefusal: String, Sendable, Codable, CaseIterable {
  /// The program did not load the library: it is static, or has more privileges than its user.
  case notLoaded
  /// A program that a process of the target has executed did not load it, also since its environment was empty.
  case notLoadedByAll
  /// The program contains an allocator of its own, so that its calls do not reach the library.
  case replaced
  /// A repetition with the library failed.
  case failedRepetition
}
