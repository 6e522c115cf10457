/// What malloc(3) and its relatives do in a repetition that only counts it: equal runs of a program with one thread have equal
/// numbers.
package enum CountMetric: String, Sendable, CaseIterable {
  /// The calls of all processes that gave a block.
  case allocations
  /// The bytes that they asked for.
  case allocatedBytes = "allocated_bytes"
  /// The highest sum of living blocks of one process, as the allocator rounds them up.
  case liveHeap = "live_heap"

  package init?(_ name: MetricName) {
    self.init(rawValue: name.text)
  }

  package var name: MetricName { MetricName(rawValue) }

  package var row: WholeRunMetric.Row {
    .ofRule(self == .allocations ? .count : .countedBytes, explained: nil)
  }
}

extension MetricName {
  package static let counts = CountMetric.allCases.map(\.name)

  package static let ofScale = ScaleMetric.allCases.map(\.name)

  /// Those that messages list by their names: kinds of memory are too many.
  package static let named = wholeRun + counts + ofScale

  /// All that have a fixed name, and are not of a phase.
  package static let listed = named + KindMetric.allCases.map(\.name)

  /// Whether other repetitions count it than those of the memory.
  package var isCounted: Bool { isInstances || CountMetric(self) != nil }

  /// Whether its amounts may be bare numbers.
  package var takesNumbers: Bool { isValue || kind == .count }
}

extension Gate {
  /// Whether a rule judges allocations.
  package var countsAllocations: Bool {
    rules.contains { CountMetric($0.metric) != nil && $0.severity != .off }
  }
}
