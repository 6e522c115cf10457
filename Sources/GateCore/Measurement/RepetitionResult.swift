/// The result of one repetition.
package struct RepetitionResult: Sendable, Equatable, Codable {
  /// The metrics of one phase.
  package struct Phase: Sendable, Equatable {
    package var name: String
    package var metrics: [MetricName: Double]
    /// Whether the peak is exact, rather than the highest sample.
    package var peakIsExact: Bool

    package init(name: String, metrics: [MetricName: Double], peakIsExact: Bool = false) {
      self.name = name
      self.metrics = metrics
      self.peakIsExact = peakIsExact
    }
  }

  package var end: End
  package var duration: Duration
  /// The number of processes that were seen in the tree.
  package var processes: Int
  /// Without unavailable metrics.
  package var metrics: [MetricName: Double]
  /// The units of values that the target reported (``MetricName/value(_:)``).
  package var units: [MetricName: String] = [:]
  /// Events that the target reported, in order of time; at most ``TargetEvent/most``.
  package var events: [TargetEvent] = []
  /// The details of the metric `growth`; nil if it is unavailable, or read from a file with only the slope.
  package var growth: Growth?
  /// Whether the main process's memory became steady; nil if unknown.
  package var steadiness: Steadiness?
  /// The levels that exist only by wider bands.
  ///
  /// A check has a value to compare then, but a baseline does not take it unless all repetitions have one: the verdict on
  /// a program that is steady in some repetitions only must not depend on chance.
  package var nearlySteady: [MetricName] = []
  package var phases: [Phase]
  /// The longest time between two samples.
  package var widestGap: Duration
  package var notes: [RecordingNote]
  /// The highest rise above the steady level; nil if there was none, or no steady level.
  package var spike: Spike?
  package var treeMethod: TreeMethod
  /// The processes with the highest peaks, including the main one; at most ``mostProcesses``.
  package var largestProcesses: [ProcessRecord]
  /// nil if the main process was never sampled, or a file has no curve.
  package var curve: MemoryCurve?

  package static let mostProcesses = 20

  /// A short rise above the steady level.
  package struct Spike: Sendable, Equatable, Codable {
    package var height: Bytes
    /// It occurred between these two samples; times since exec.
    package var after: Duration
    package var before: Duration
    /// The phase in which it began; nil if it was in none.
    package var phase: String?
    /// Whether the main process kept a CPU busy during the spike.
    package var isBusy: Bool

    package init(height: Bytes, after: Duration, before: Duration, phase: String? = nil, isBusy: Bool = false) {
      self.height = height
      self.after = after
      self.before = before
      self.phase = phase
      self.isBusy = isBusy
    }
  }

  package init(
    end: End,
    duration: Duration,
    processes: Int,
    metrics: [MetricName: Double],
    growth: Growth? = nil,
    steadiness: Steadiness? = nil,
    phases: [Phase] = [],
    widestGap: Duration = .zero,
    notes: [RecordingNote] = [],
    spike: Spike? = nil,
    treeMethod: TreeMethod = .upperBound,
    largestProcesses: [ProcessRecord] = []
  ) {
    self.end = end
    self.duration = duration
    self.processes = processes
    self.metrics = metrics
    self.growth = growth
    self.steadiness = steadiness
    self.phases = phases
    self.widestGap = widestGap
    self.notes = notes
    self.spike = spike
    self.treeMethod = treeMethod
    self.largestProcesses = largestProcesses
  }

  /// The value that one metric has in ``allMetrics``, without making all of them.
  package func value(of metric: MetricName) -> Double? {
    guard let (phase, part) = metric.inPhase else { return metrics[metric] }
    let values = phases.compactMap { $0.name == phase ? $0.metrics[part] : nil }
    return ([metrics[metric]].compactMap(\.self) + values).max()
  }

  /// All metrics, including those of phases with their names in gates; the highest value of a repeated phase.
  package var allMetrics: [MetricName: Double] {
    phases.reduce(into: metrics) { all, phase in
      for (metric, value) in phase.metrics {
        all.merge([.phase(phase.name, metric): value], uniquingKeysWith: max)
      }
    }
  }
}
