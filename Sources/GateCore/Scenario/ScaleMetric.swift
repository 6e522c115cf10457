/// What a scenario with a ``Scale`` needs per item, and besides.
package enum ScaleMetric: String, Sendable, CaseIterable {
  /// The slope of the peak over the number of items.
  case bytesPerItem = "bytes_per_item"
  /// The memory that the line through the peaks has at no items.
  case baseMemory = "base_memory"

  package init?(_ name: MetricName) {
    self.init(rawValue: name.text)
  }

  package var name: MetricName { MetricName(rawValue) }

  package var row: WholeRunMetric.Row {
    .ofRule(self == .bytesPerItem ? .perItem : .remainder, explained: .peak)
  }
}

/// The numbers of items with which each repetition runs a scenario, in ascending order.
package struct Scale: Sendable, Equatable {
  package var axis: String
  package var values: [Double]
  /// The scenario for each value but the last, which is that of the scenario itself.
  package var smaller: [Scenario]

  package init(axis: String, values: [Double], smaller: [Scenario]) {
    (self.axis, self.values, self.smaller) = (axis, values, smaller)
  }

  /// With two values each program is linear.
  package static let fewestValues = 3
  package static let mostValues = 20
}
