/// A figure that each repetition yields.
package struct MetricName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package var description: String { text }

  package static func < (lhs: MetricName, rhs: MetricName) -> Bool {
    lhs.text < rhs.text
  }

  /// The order in which reports list metrics: those of the whole run first, then the others by name.
  package static func isListedBefore(_ lhs: MetricName, _ rhs: MetricName) -> Bool {
    let (left, right) = (wholeRun.firstIndex(of: lhs) ?? wholeRun.count, wholeRun.firstIndex(of: rhs) ?? wholeRun.count)
    return (left, lhs) < (right, rhs)
  }

  /// The high-water mark of the main process (`VmHWM`).
  package static let peakRSS = MetricName("peak_rss")
  /// The level of the main process after its warm-up.
  package static let steadyRSS = MetricName("steady_rss")
  /// The slope in steady state, per iteration where there are iterations, else per second.
  package static let growth = MetricName("growth")
  /// The highest rise above the steady level.
  package static let spike = MetricName("spike")
  /// How much memory page faults bring in, in bytes a second.
  package static let faultRate = MetricName("fault_rate")
  /// The highest sum over the whole process tree.
  package static let treePeak = MetricName("tree_peak")
  /// The level of the sum over the whole process tree after its warm-up.
  package static let treeSteady = MetricName("tree_steady")

  /// The metrics of a whole repetition, in the order in which they are shown.
  package static let wholeRun: [MetricName] = [
    .peakRSS, .steadyRSS, .growth, .spike, .faultRate, .treePeak, .treeSteady,
  ]

  /// The metrics that each phase has.
  package static let perPhase: [MetricName] = [.peakRSS, .steadyRSS]

  /// A metric of one phase, as in `phase.load.peak_rss`.
  package static func phase(_ phase: String, _ metric: MetricName) -> MetricName {
    MetricName("phase.\(phase).\(metric.text)")
  }

  /// What a target itself reports under this name, as in `value.cache.entries`: the highest figure of a repetition.
  package static func value(_ name: String) -> MetricName {
    MetricName("value.\(name)")
  }

  /// Reads a metric's name as a gate may spell it.
  ///
  /// - Returns: nil where there is no such metric.
  package init?(parsing text: String) {
    let name = MetricName(text)
    let ofPhase = Self.perPhase.contains { metric in
      let suffix = ".\(metric.text)"
      return text.hasPrefix("phase.") && text.hasSuffix(suffix) && text.count > 6 + suffix.count
        && PlainName.isValid(text.dropFirst(6).dropLast(suffix.count))
    }
    let isValue = name.isValue && PlainName.isValid(name.reportedName)
    guard Self.wholeRun.contains(name) || ofPhase || isValue else { return nil }
    self = name
  }

  /// Whether the metric is of the whole process tree: what it counts is told by a ``TreeMethod``.
  package var isOfTree: Bool { self == .treePeak || self == .treeSteady }

  /// Whether it is a figure of the target's own, in a unit that the target says with it.
  package var isValue: Bool { text.hasPrefix("value.") }

  /// The target's name for a figure of its own, as in `cache.entries`; the whole name of all else.
  package var reportedName: String { isValue ? String(text.dropFirst("value.".count)) : text }

  /// Whether it is a rate, which has no level that anything could be a share of.
  package var isRate: Bool { self == .growth || self == .faultRate }

  /// Whether the values are whole bytes of memory; rates have fractions, and so may what targets report.
  package var isWholeBytes: Bool { !isRate && !isValue }

  /// The unit as the result file names it; of growth that per iteration or per second, of a figure of the target's own
  /// what the target `told`, else none.
  package func unit(perIteration: Bool, reported: String? = nil) -> String {
    if isValue { return reported ?? "" }
    if self == .faultRate { return "bytes/second" }
    guard self == .growth else { return "bytes" }
    return perIteration ? "bytes/iteration" : "bytes/second"
  }
}
