/// A remark on a scenario's result; the reports put it into words.
package enum Note: Sendable, Hashable, Codable {
  // On the measurement.
  /// A remark on `count` of the `total` repetitions.
  case recording(RecordingNote, count: Int, total: Int)
  case machine(MachineNote)
  /// The other side of the comparison is this build, run alternately with the scenario's own.
  case comparedWithBuild(String)
  /// A child holds more memory than the main process, and no gate covers it; the commands of both.
  case largerChild(child: String, main: String)
  /// Memory grows in `count` of the repetitions, and no gate covers growth; the growth of the repetition in the middle, and
  /// a limit to start from.
  case ungatedGrowth(Growth, count: Int, total: Int, limit: Amount)

  // On the verdict.
  case noRepetitions
  /// Every metric of the gate is off.
  case nothingJudged
  case notJudged(MetricName, Unavailability)
  /// A metric is not judged since only so many of the baseline's repetitions became steady.
  case baselineSeldomSteady(MetricName, count: Int, total: Int)
  /// There is no baseline for this environment; the nearest one, and the fields that differ.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
  /// The environment differs from the baseline's in these soft fields.
  case environmentChanged([Fingerprint.Difference])
  /// There are too few values for a statistical test.
  case tooFewValues(current: Int, baseline: Int)
  case creep(Creep)
  /// Only the base of a comparison has these scenarios.
  case onlyInBase([ScenarioName])

  /// Whether it is a remark on the verdict, which a new judgement makes obsolete; others are on the measurement.
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
  /// What the rise is counted over.
  package enum Span: Sendable, Hashable, Codable {
    /// Approvals that were each within the tolerance.
    case approvals
    /// So many runs, none of which rose by more than the tolerance.
    case runs(Int)
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
