/// The name of a metric, which has one value per repetition.
package struct MetricName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package var description: String { text }

  package static func < (lhs: MetricName, rhs: MetricName) -> Bool {
    lhs.text < rhs.text
  }

  /// The order of metrics in reports: metrics of the whole run first, then the others by name.
  package static func isListedBefore(_ lhs: MetricName, _ rhs: MetricName) -> Bool {
    let (left, right) = (wholeRun.firstIndex(of: lhs) ?? wholeRun.count, wholeRun.firstIndex(of: rhs) ?? wholeRun.count)
    return (left, lhs) < (right, rhs)
  }

  package static let peakRSS = WholeRunMetric.peakRSS.name
  package static let steadyRSS = WholeRunMetric.steadyRSS.name
  package static let growth = WholeRunMetric.growth.name
  package static let spike = WholeRunMetric.spike.name
  package static let retained = WholeRunMetric.retained.name
  package static let faultRate = WholeRunMetric.faultRate.name
  package static let treePeak = WholeRunMetric.treePeak.name
  package static let treeSteady = WholeRunMetric.treeSteady.name

  /// The result of the scenario's `limit`, which has no value; no rule of a gate can name it.
  package static let limit = MetricName("limit")

  /// The metrics of a whole repetition, in report order.
  package static let wholeRun = WholeRunMetric.allCases.map(\.name)

  /// The metrics of each phase.
  package static let perPhase = WholeRunMetric.allCases.filter(\.row.isOfPhase).map(\.name)

  /// The metrics that trends and overviews show although no rule names them.
  package static let headlines = WholeRunMetric.allCases.filter(\.row.isHeadline).map(\.name)

  /// A metric of one phase, as in `phase.load.peak_rss`.
  package static func phase(_ phase: String, _ metric: MetricName) -> MetricName {
    MetricName("phase.\(phase).\(metric.text)")
  }

  /// The highest value that the target reports with this name, as in `value.cache.entries`.
  package static func value(_ name: String) -> MetricName {
    MetricName("value.\(name)")
  }

  /// The living instances of a Swift class with this full name, as in `instances.server.Session`.
  package static func instances(of name: String) -> MetricName {
    MetricName("instances.\(name)")
  }

  /// Parses a metric name in a gate; nil if there is no such metric.
  package init?(parsing text: String) {
    let name = MetricName(text)
    let ofPhase =
      name.inPhase.map { PlainName.isValid(String($0.phase.map { $0 == Self.anyText ? "x" : $0 })) } ?? false
    let isValue = name.isInstances ? name.isOfClass : name.isValue && PlainName.isValid(name.reportedName)
    guard name.row != nil || ofPhase || isValue else { return nil }
    self = name
  }

  /// The phase and the metric within it; nil for a metric of the whole run and for a reported value.
  package var inPhase: (phase: String, metric: MetricName)? {
    guard text.hasPrefix("phase.") else { return nil }
    let name = text.dropFirst("phase.".count)
    guard let metric = Self.perPhase.first(where: { name.hasSuffix(".\($0.text)") }) else { return nil }
    let phase = name.dropLast(metric.text.count + 1)
    return phase.isEmpty ? nil : (String(phase), metric)
  }

  /// What is known of it; nil for a metric of a phase, a reported value and ``limit``.
  package var row: WholeRunMetric.Row? {
    WholeRunMetric(rawValue: text)?.row ?? KindMetric(self)?.row ?? CountMetric(self)?.row
      ?? ScaleMetric(self)?.row
  }

  /// What its values are; ``limit`` and the metrics of later versions are memory.
  package var kind: MetricKind {
    if let row { return row.kind }
    if let suite = SuiteMetric(self) { return suite.kind }
    if isInstances { return .instances }
    if isValue { return .reported }
    return inPhase?.metric.row?.kind ?? .peak
  }

  /// Whether it is a metric of the process tree, which is counted according to a ``TreeMethod``.
  package var isOfTree: Bool { row?.scope == .tree }

  /// Whether it is a number of the target's own: a reported value, with its unit, or a number of instances.
  package var isValue: Bool { text.hasPrefix("value.") || isInstances }

  /// Whether it is a number of living instances, which other repetitions count than those of the memory.
  package var isInstances: Bool { text.hasPrefix("instances.") }

  /// The name that the target reports, as in `cache.entries`, or a class's name; the whole name for other metrics.
  package var reportedName: String { isValue ? String(text.drop { $0 != "." }.dropFirst()) : text }

  /// Longer names are cut by the library that reads them (hw_instances.h).
  private static let longestClassName = 380

  private var isOfClass: Bool {
    (1...Self.longestClassName).contains(reportedName.utf8.count) && !text.unicodeScalars.contains(where: \.isControl)
  }

  /// Whether it is a rate, which may be zero: a percentage of it makes no sense.
  package var isRate: Bool { kind.isRate }

  /// Whether its values are whole bytes of memory; rates and reported values may have fractions.
  package var isWholeBytes: Bool { kind.isWholeBytes }

  /// Whether it counts there although no rule of the gate names it; reported values always do.
  package func counts(_ use: WholeRunMetric.WithoutRule) -> Bool {
    (inPhase?.metric ?? self).row.map { $0.withoutRule >= use } ?? true
  }

  /// The unit as in the result file; for a reported value, the `reported` unit if any.
  package func unit(perIteration: Bool, reported: String? = nil) -> String {
    kind.unit(perIteration: perIteration, reported: reported)
  }
}
