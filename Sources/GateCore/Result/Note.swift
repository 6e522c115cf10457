/// A note on a scenario's result; reports turn it into a sentence.
package enum Note: Sendable, Hashable, Codable {
  // On the measurement.
  /// A note on `count` of the `total` repetitions.
  case recording(note: RecordingNote, count: Int, total: Int)
  case machine(note: MachineNote)
  /// The values are compared with this build, which ran alternately with the scenario's own build.
  case comparedWithBuild(build: String)
  /// A child process has more memory than the main process, and no rule covers it; the commands of both.
  case largerChild(child: String, main: String)
  /// Memory grows in `count` repetitions, and no rule covers growth: the median growth, and an initial limit
  /// (``ScenarioResult/gate(limitingGrowthTo:)``).
  case ungatedGrowth(growth: Growth, count: Int, total: Int, limit: Amount)

  // On the verdict.
  case noRepetitions
  /// Every metric of the gate is off.
  case nothingJudged
  case notJudged(metric: MetricName, cause: Unavailability)
  /// The default gate does not judge the metric, since only `count` of the baseline's repetitions have it.
  case baselineSeldomSteady(metric: MetricName, count: Int, total: Int)
  /// There is no baseline for this environment: the name of the closest one, and the fields that differ.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
  /// The environment differs from the baseline's in these fields.
  case environmentChanged(differences: [Fingerprint.Difference])
  /// There are too few values for a statistical test.
  case tooFewValues(current: Int, baseline: Int)
  case creep(creep: Creep)
  /// Only the base of a comparison has these scenarios.
  case onlyInBase(scenarios: [ScenarioName])

  /// Whether it is a note on the verdict, which a new judgement replaces; others are on the measurement.
  package var isOnVerdict: Bool {
    switch self {
    case .recording, .machine, .comparedWithBuild, .largerChild, .ungatedGrowth: false
    case .noRepetitions, .nothingJudged, .notJudged, .baselineSeldomSteady, .otherEnvironment, .environmentChanged,
      .tooFewValues, .creep, .onlyInBase:
      true
    }
  }
}

/// A metric that rose slowly, by less than its tolerance each time.
package struct Creep: Sendable, Hashable, Codable {
  /// What the rise was summed over.
  package enum Span: Sendable, Hashable, Codable {
    /// Approvals that were each within the tolerance.
    case approvals
    /// This many runs, none of which rose by more than the tolerance.
    case runs(count: Int)
  }

  package var metric: MetricName
  package var unit: String
  package var rise: Double
  package var anchor: Anchor
  package var span: Span

  package init(metric: MetricName, unit: String, rise: Double, anchor: Anchor, span: Span) {
    self.metric = metric
    self.unit = unit
    self.rise = rise
    self.anchor = anchor
    self.span = span
  }
}
