package import FoundationEssentials
import Statistics

extension Baseline {
  /// The level above which small rises add up, though each was within its tolerance when it was approved.
  package struct Anchor: Sendable, Equatable {
    package var level: Double
    /// When and at which commit that level was approved.
    package var at: Date
    package var commit: String?

    package init(level: Double, at: Date, commit: String?) {
      self.level = level
      self.at = at
      self.commit = commit
    }
  }

  /// How far a metric has crept.
  package struct Creep: Sendable, Equatable {
    package var metric: MetricName
    package var rise: Double
    package var anchor: Anchor
  }

  /// Takes over from the baseline that this one replaces how low each metric was before.
  ///
  /// A rise beyond the tolerance was seen and wanted by whoever approves it, so it lifts the anchor, too; a rise within
  /// the tolerance was not, and leaves it. A level below the anchor is the new one.
  package mutating func continueAnchors(of previous: Baseline, gate: Gate) {
    anchors = [:]
    for (metric, values) in metrics where !metric.isRate && units[metric] == previous.units[metric] {
      guard let before = previous.metrics[metric], let level = Spread.median(values),
        let formerLevel = Spread.median(before), let rise = Shift(from: before, to: values)?.estimate
      else { continue }
      let former = Anchor(level: formerLevel, at: previous.approved.at, commit: previous.approved.commit)
      var anchor = previous.anchors[metric] ?? former
      if rise > gate.tolerance(of: metric).allowed(beside: before, of: metric) { anchor.level += rise }
      if anchor.level < level { anchors[metric] = anchor }
    }
  }

  /// The judged metrics that have crept above their anchors: by more than is tolerated at once and
  /// ``Drift/deviations`` of their own values, since the lowest of many levels lies below what they are on average.
  package func creep(under gate: Gate) -> [Creep] {
    gate.rules.filter { $0.severity != .off }.compactMap { rule in
      guard let anchor = anchors[rule.metric], let values = metrics[rule.metric], let level = Spread.median(values)
      else { return nil }
      let least =
        gate.tolerance(of: rule.metric).allowed(beside: values, of: rule.metric)
        + Drift.deviations * Spread.noise(values)
      let rise = level - anchor.level
      return rise > least ? Creep(metric: rule.metric, rise: rise, anchor: anchor) : nil
    }
  }
}

extension Baseline.Creep {
  /// The creep as a sentence; `unit` is the metric's.
  package func sentence(unit: String) -> String {
    anchor.sentence(on: metric, rise: rise, unit: unit, course: "over approvals that were each within the tolerance")
  }
}

extension Baseline.Anchor {
  /// How far a metric has crept up from here, in a sentence; `course` says by what steps.
  func sentence(on metric: MetricName, rise: Double, unit: String, course: String) -> String {
    let percent = level > 0 ? " (+\(Decimals.text(rise / level * 100, places: 1)) %)" : ""
    let commit = commit.map { ", commit \($0.prefix(9))" } ?? ""
    return "\(metric) has crept up by \(MetricUnit.text(of: rise, unit: unit))\(percent) \(course), "
      + "from \(MetricUnit.text(of: level, unit: unit)) (\(at.day)\(commit))"
  }
}

extension Gate {
  /// The tolerance of a metric's rule; the standard one where it has none.
  package func tolerance(of metric: MetricName) -> Tolerance {
    rules.first { $0.metric == metric }?.tolerance ?? .standard(of: metric) ?? .standard
  }
}

extension Date {
  /// The day in UTC, as in `2026-01-02`.
  package var day: String {
    formatted(Date.ISO8601FormatStyle().year().month().day())
  }
}
