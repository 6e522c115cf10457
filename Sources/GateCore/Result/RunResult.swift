package import FoundationEssentials

/// This program, as its reports name it.
package enum Tool {
  package static let name = "highwater"
  package static let version = "0.1.0"
}

/// A finished run of one or more scenarios: what every report is made from.
package struct RunResult: Sendable, Equatable {
  package var run: RunInfo
  package var environment: EnvironmentInfo
  /// In the order of the project file.
  package var scenarios: [ScenarioResult]

  package init(run: RunInfo, environment: EnvironmentInfo, scenarios: [ScenarioResult]) {
    self.run = run
    self.environment = environment
    self.scenarios = scenarios
  }

  package var verdict: Verdict {
    Verdict.combined(scenarios.map(\.verdict))
  }
}

/// When and of what a run was.
package struct RunInfo: Sendable, Equatable {
  /// A UUID of version 7, so that ids sort by time.
  package var id: String
  package var startedAt: Date
  package var duration: Duration
  package var commit: String?
  /// The first line of the commit's message.
  package var subject: String?
  package var branch: String?
  /// Where the CI system shows this build.
  package var buildURL: String?

  package init(
    id: String,
    startedAt: Date,
    duration: Duration = .zero,
    commit: String? = nil,
    subject: String? = nil,
    branch: String? = nil,
    buildURL: String? = nil
  ) {
    self.id = id
    self.startedAt = startedAt
    self.duration = duration
    self.commit = commit
    self.subject = subject
    self.branch = branch
    self.buildURL = buildURL
  }
}

/// An environment and the name under which its baselines stand.
package struct EnvironmentInfo: Sendable, Equatable {
  package var name: String
  package var fingerprint: Fingerprint
  /// Hard fields across which the team compares all the same.
  package var ignoredFields: Set<Fingerprint.Field>
  /// How far the kernel's own counters may be off here; nil where nobody has looked.
  package var counters: CounterCheck?

  package init(
    name: String,
    fingerprint: Fingerprint,
    ignoredFields: Set<Fingerprint.Field> = [],
    counters: CounterCheck? = nil
  ) {
    self.name = name
    self.fingerprint = fingerprint
    self.ignoredFields = ignoredFields
    self.counters = counters
  }
}

/// How exact the machine's memory counters are.
package struct CounterCheck: Sendable, Equatable {
  /// How far a high-water mark may be off after memory was given back, per kind of memory (lib/percpu_counter.c).
  package var bound: Bytes
  /// `VmRSS` of `status` less `Rss` of `smaps_rollup`, of a helper that stood still; zero from Linux 6.16 on.
  package var difference: Bytes

  package init(bound: Bytes, difference: Bytes) {
    self.bound = bound
    self.difference = difference
  }
}

/// What came of one scenario.
package struct ScenarioResult: Sendable, Equatable {
  package var name: ScenarioName
  package var tags: [String] = []
  package var verdict: Verdict
  /// The environment of this scenario: its isolation and memory limit are part of it.
  package var environment: EnvironmentInfo
  /// The rules by which the metrics were judged, so that the result can be judged again.
  package var gate: Gate
  /// The counted repetitions, in order.
  package var repetitions: [RepetitionResult]
  package var metrics: [MetricResult]
  package var baselineComposition: Composition?
  /// How memory went in the middle repetition of what the figures were held against; nil where that does not tell.
  package var baselineCurve: MemorySeries?
  package var currentComposition: Composition?
  /// What memory consisted of nearest to the peak, where ``currentComposition`` is of the end; of the same repetition.
  package var compositionAtPeak: Composition?
  /// Why the scenario failed; nil unless it did.
  package var failure: Failure?
  /// Remarks for a person, each one sentence.
  package var notes: [String]
  /// How often growth was measured: per iteration, else per second.
  package var growthIsPerIteration: Bool
  /// How many repetitions the verdict could have asked for; nil where their number was fixed.
  package var plan: RepetitionPlan?
  /// Who approved the baseline that the figures were held against, when and why; nil where there is none.
  package var approval: Baseline.Approval?
  /// How many commits came since then; nil where that is not known.
  package var commitsSinceApproval: Int?

  package init(
    name: ScenarioName,
    verdict: Verdict,
    environment: EnvironmentInfo,
    gate: Gate = .standard,
    repetitions: [RepetitionResult] = [],
    metrics: [MetricResult] = [],
    baselineComposition: Composition? = nil,
    currentComposition: Composition? = nil,
    compositionAtPeak: Composition? = nil,
    failure: Failure? = nil,
    notes: [String] = [],
    growthIsPerIteration: Bool = false,
    plan: RepetitionPlan? = nil
  ) {
    self.name = name
    self.verdict = verdict
    self.environment = environment
    self.gate = gate
    self.repetitions = repetitions
    self.metrics = metrics
    self.baselineComposition = baselineComposition
    self.currentComposition = currentComposition
    self.compositionAtPeak = compositionAtPeak
    self.failure = failure
    self.notes = notes
    self.growthIsPerIteration = growthIsPerIteration
    self.plan = plan
  }
}

/// What one repetition yielded.
package struct RepetitionResult: Sendable, Equatable {
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
  package struct Spike: Sendable, Equatable {
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

extension ScenarioResult {
  /// The unit of a metric as the result file names it; of a figure of the target's own as it was first reported.
  package func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: growthIsPerIteration, reported: reportedUnit(of: metric))
  }

  /// The unit of a figure of the target's own, as it was first reported or else as it was judged; nil where nobody told.
  package func reportedUnit(of metric: MetricName) -> String? {
    guard metric.isValue else { return nil }
    let judged = metrics.first { $0.rule.metric == metric && MetricUnit.isValid($0.unit) }
    return repetitions.lazy.compactMap { $0.units[metric] }.first ?? judged?.unit
  }

  /// All metrics that a repetition had or that were judged, in the order in which they are shown.
  package var metricNames: [MetricName] {
    Set(repetitions.flatMap { $0.allMetrics.keys }).union(metrics.map(\.rule.metric))
      .sorted(by: MetricRecord.isShownBefore)
  }
}

/// How one metric of one scenario was judged.
package struct MetricResult: Sendable, Equatable {
  package struct Summary: Sendable, Equatable {
    package var median: Double
    package var count: Int

    package init(median: Double, count: Int) {
      self.median = median
      self.count = count
    }
  }

  /// Current less baseline.
  package struct Change: Sendable, Equatable {
    package var absolute: Double
    /// nil where the baseline is zero.
    package var percent: Double?
    /// The ends of the 95 % interval of the shift.
    package var low: Double
    package var high: Double
    /// The median of the differences between all values of both sides, by which is judged; where values jump between
    /// two levels, it is not that of the medians.
    package var shift: Double

    package init(absolute: Double, percent: Double?, low: Double, high: Double, shift: Double? = nil) {
      self.absolute = absolute
      self.percent = percent
      self.low = low
      self.high = high
      self.shift = shift ?? absolute
    }
  }

  /// By what the values of both sides were told apart.
  package enum Method: String, Sendable, CaseIterable {
    /// By the exact test of their ranks.
    case ranks = "rank-test"
    /// As by ranks, after values that jump between two levels were put beside the nearer one, and by their share there.
    case levels = "two-levels"
    /// By size alone: there are too few values for any test.
    case thresholds = "no-statistics"
  }

  package var rule: GateRule
  package var unit: String
  package var verdict: Verdict
  package var baseline: Summary?
  package var current: Summary?
  package var change: Change?
  /// What the rule's tolerance came to, in the metric's unit.
  package var allowed: Double?
  /// The smallest change that this comparison could have seen.
  package var detectable: Double?
  /// The smallest change that the baseline's own noise would let a check of this plan see, whatever is tolerated.
  package var resolution: Double?
  /// Whether noise alone left it inconclusive, so that more repetitions may decide it.
  package var isUndecided = false
  /// nil where nothing was compared.
  package var method: Method?
  /// The chance that values of one and the same program would differ so; nil where the change is within its tolerance.
  package var chance: Double?
  /// Why the verdict is what it is, in one sentence.
  package var reason: String

  package init(
    rule: GateRule,
    unit: String,
    verdict: Verdict,
    baseline: Summary? = nil,
    current: Summary? = nil,
    change: Change? = nil,
    allowed: Double? = nil,
    detectable: Double? = nil,
    resolution: Double? = nil,
    method: Method? = nil,
    chance: Double? = nil,
    reason: String = ""
  ) {
    self.rule = rule
    self.unit = unit
    self.verdict = verdict
    self.baseline = baseline
    self.current = current
    self.change = change
    self.allowed = allowed
    self.detectable = detectable
    self.resolution = resolution
    self.method = method
    self.chance = chance
    self.reason = reason
  }
}
