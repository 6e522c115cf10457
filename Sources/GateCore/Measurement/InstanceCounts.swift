/// What repetitions counted that were run only for this: the living instances of Swift classes, and allocations.
package struct InstanceCounts: Sendable, Equatable, Codable {
  /// One value for each repetition (``MetricName/instances(of:)``).
  package var metrics: [MetricName: [Double]]
  /// Why no instances were counted; nil if some were, or none were to be counted.
  package var refusal: InstanceRefusal?
  /// The same of allocations.
  package var allocationRefusal: AllocationRefusal?

  /// Programs have hundreds of classes, and each that is kept is stored in results and baselines.
  private static let (mostClasses, fewestInstances) = (100, 50.0)

  package init(metrics: [MetricName: [Double]] = [:], refusal: InstanceRefusal? = nil) {
    self.metrics = metrics
    self.refusal = refusal
  }

  /// Keeps the classes of the gate, and those with the most instances of the others.
  package init(_ readings: [InstanceReading], for gate: Gate) {
    self.init(refusal: readings.lazy.compactMap(\.refusal).first)
    let names = Set(readings.flatMap(\.highest.keys)).map(MetricName.instances)
      .filter { MetricName(parsing: $0.text) != nil }
    let all = names.map { name in
      (name: name, values: readings.map { Double($0.highest[name.reportedName] ?? 0) })
    }
    let gated = Set(gate.rules.map(\.metric))
    let others = all.filter { !gated.contains($0.name) && Self.least($0.values) >= Self.fewestInstances }
      .sorted { (Self.least($1.values), $0.name) < (Self.least($0.values), $1.name) }
    for (name, values) in all.filter({ gated.contains($0.name) }) + others.prefix(Self.mostClasses) {
      metrics[name] = values
    }
  }

  /// Adds the allocations of repetitions.
  package mutating func add(_ readings: [AllocationReading]) {
    allocationRefusal = readings.lazy.compactMap(\.refusal).first
    guard allocationRefusal == nil else { return }
    for metric in CountMetric.allCases {
      metrics[metric.name] = readings.map { Double($0.counts[metric] ?? 0) }
    }
  }

  /// The least value of a class, because objects that a mark catches by chance are no change; nil if it has none.
  package func least(of metric: MetricName) -> Double? { metrics[metric].map(Self.least) }

  private static func least(_ values: [Double]) -> Double { values.min() ?? 0 }
}

extension Gate {
  /// Whether a rule judges the instances of a class.
  package var countsInstances: Bool { rules.contains { $0.metric.isInstances && $0.severity != .off } }
}
