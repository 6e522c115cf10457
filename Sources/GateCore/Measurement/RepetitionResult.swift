/// What one repetition yielded.
package struct RepetitionResult: Sendable, Equatable, Codable {
  /// The figures of one phase.
  package struct Phase: Sendable, Equatable {
    package var name: String
    package var metrics: [MetricName: Double]
    /// Whether its peak is exact, and not just the highest reading.
    package var peakIsExact: Bool

    package init(name: String, metrics: [MetricName: Double], peakIsExact: Bool = false) {
      self.name = name
      self.metrics = metrics
      self.peakIsExact = peakIsExact
    }
  }

  package var end: End
  package var duration: Duration
  /// How many processes of the tree were seen.
  package var processes: Int
  /// A metric that could not be had is missing.
  package var metrics: [MetricName: Double]
  /// In which units the target reported its own figures (``MetricName/value(_:)``).
  package var units: [MetricName: String] = [:]
  /// What the target told of itself, in the order of time; at most ``TargetEvent/most``.
  package var events: [TargetEvent] = []
  /// What is known of the metric `growth`; nil where that is missing, or from a file that tells no more than the slope.
  package var growth: Growth?
  /// Whether the main process's memory became steady; nil where nobody has told.
  package var steadiness: Steadiness?
  package var phases: [Phase]
  /// The longest time between two samples.
  package var widestGap: Duration
  package var notes: [RecordingNote]
  /// The highest rise above the steady level; nil where there was none, or no steady level.
  package var spike: Spike?
  package var treeMethod: TreeMethod
  /// The processes with the highest peaks, at most ``mostProcesses``, the main one always among them.
  package var largestProcesses: [ProcessRecord]
  /// How its memory went; nil where the main process was never read, or a file does not tell.
  package var curve: MemoryCurve?

  package static let mostProcesses = 20

  /// A short rise above the steady level, and when it came.
  package struct Spike: Sendable, Equatable, Codable {
    package var height: Bytes
    /// Between these two readings, times since exec.
    package var after: Duration
    package var before: Duration
    /// The phase that it began in; nil outside all phases.
    package var phase: String?
    /// Whether the main process kept a CPU busy then: memory that is asked for in a hurry is the likeliest to get a
    /// program killed.
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

  /// All figures under the names that a gate uses, those of phases too; of a phase that came more than once, the
  /// highest.
  package var allMetrics: [MetricName: Double] {
    phases.reduce(into: metrics) { all, phase in
      for (metric, value) in phase.metrics {
        all.merge([.phase(phase.name, metric): value], uniquingKeysWith: max)
      }
    }
  }
}
