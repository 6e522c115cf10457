package import FoundationEssentials
import Statistics

/// Measurements of one scenario in one environment that the team approved.
package struct Baseline: Sendable, Equatable {
  /// Who approved it, when and why.
  package struct Approval: Sendable, Equatable {
    package var at: Date
    package var by: String
    package var commit: String?
    package var reason: String?
    /// The id of the run whose figures these are.
    package var run: String

    package init(at: Date, by: String, commit: String?, reason: String?, run: String) {
      self.at = at
      self.by = by
      self.commit = commit
      self.reason = reason
      self.run = run
    }
  }

  package var scenario: ScenarioName
  package var environment: String
  package var fingerprint: Fingerprint
  /// One value for each repetition, in the order of measurement.
  package var metrics: [MetricName: [Double]]
  /// In which units the target reported its own figures (``MetricName/value(_:)``).
  package var units: [MetricName: String] = [:]
  package var composition: Composition?
  /// How memory went in the middle repetition; nil in files of earlier versions.
  package var curve: MemorySeries?
  /// What the metrics of the process tree count.
  package var treeMethod: TreeMethod
  /// Of metrics that rose in small steps, how low they were before; see ``continueAnchors(of:gate:)``.
  package var anchors: [MetricName: Anchor]
  package var approved: Approval

  package init(
    scenario: ScenarioName,
    environment: String,
    fingerprint: Fingerprint,
    metrics: [MetricName: [Double]],
    composition: Composition?,
    treeMethod: TreeMethod = .upperBound,
    anchors: [MetricName: Anchor] = [:],
    approved: Approval
  ) {
    self.scenario = scenario
    self.environment = environment
    self.fingerprint = fingerprint
    self.metrics = metrics
    self.composition = composition
    self.treeMethod = treeMethod
    self.anchors = anchors
    self.approved = approved
  }
}

extension Baseline {
  /// The median of each metric's values.
  package var medians: [MetricName: Double] {
    metrics.compactMapValues(Spread.median)
  }

  /// The unit of a metric that is no growth, as the result file names it.
  package func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: false, reported: units[metric])
  }
}
