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

  /// The highest high-water mark (`VmHWM`) of a process of the tree, or that of the main process if a rule names it.
  package static let peakRSS = MetricName("peak_rss")
  /// The level of the main process after its warm-up.
  package static let steadyRSS = MetricName("steady_rss")
  /// The slope of resident memory in steady state, per iteration or per second.
  package static let growth = MetricName("growth")
  /// The highest rise above the steady level.
  package static let spike = MetricName("spike")
  /// The memory that page faults make resident, in bytes per second.
  package static let faultRate = MetricName("fault_rate")
  /// The highest memory of the whole process tree (``Recording/treePeak``).
  package static let treePeak = MetricName("tree_peak")
  /// The level of the memory of the whole process tree after its warm-up.
  package static let treeSteady = MetricName("tree_steady")

  /// The result of the scenario's `limit`, which has no value; no rule of a gate can name it.
  package static let limit = MetricName("limit")

  /// The metrics of a whole repetition, in report order.
  package static let wholeRun: [MetricName] = [
    .peakRSS, .steadyRSS, .growth, .spike, .faultRate, .treePeak, .treeSteady,
  ]

  /// The metrics of each phase.
  package static let perPhase: [MetricName] = [.peakRSS, .steadyRSS]

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
    let ofPhase = name.inPhase.map { PlainName.isValid($0.phase) } ?? false
    let isValue = name.isInstances ? name.isOfClass : name.isValue && PlainName.isValid(name.reportedName)
    guard Self.wholeRun.contains(name) || ofPhase || isValue else { return nil }
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

  /// Whether it is a metric of the process tree, which is counted according to a ``TreeMethod``.
  package var isOfTree: Bool { self == .treePeak || self == .treeSteady }

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

  /// Whether it is a rate, which may be zero or negative: a percentage of it makes no sense.
  package var isRate: Bool { self == .growth || self == .faultRate }

  /// Whether its values are whole bytes of memory; rates and reported values may have fractions.
  package var isWholeBytes: Bool { !isRate && !isValue }

  /// The unit as in the result file; for a reported value, the `reported` unit if any.
  package func unit(perIteration: Bool, reported: String? = nil) -> String {
    if isInstances { return "instances" }
    if isValue { return reported ?? "" }
    if self == .faultRate { return "bytes/second" }
    guard self == .growth else { return "bytes" }
    return perIteration ? "bytes/iteration" : "bytes/second"
  }
}
