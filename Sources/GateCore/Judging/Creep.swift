package import FoundationEssentials
import Statistics

extension Baseline {
  /// Takes over from the baseline that this one replaces the levels that metrics have crept up from.
  ///
  /// A rise beyond the tolerance was seen and accepted at the approval, so it lifts the anchor; a rise within the
  /// tolerance does not. A level below the anchor becomes the new anchor.
  package mutating func continueAnchors(of previous: Baseline, gate: Gate) {
    anchors = [:]
    for (metric, values) in metrics where !metric.isRate && units[metric] == previous.units[metric] {
      guard let before = previous.metrics[metric], let level = Spread.median(values),
        var anchor = previous.anchors[metric] ?? previous.anchor(at: Spread.median(before)),
        let rise = Shift(from: before, to: values)?.estimate
      else { continue }
      if rise > gate.tolerance(of: metric).allowed(beside: before, of: metric) { anchor.level += rise }
      if anchor.level < level { anchors[metric] = anchor }
    }
  }

  private func anchor(at level: Double?) -> Anchor? {
    guard let level, let approval else { return nil }
    return Anchor(level: level, at: approval.at, commit: approval.commit)
  }

  /// The judged metrics that have crept above their anchors, by the rule of ``Drift``.
  package func creep(under gate: Gate) -> [Creep] {
    gate.rules.filter { $0.severity != .off }.compactMap { rule in
      guard let anchor = anchors[rule.metric], let values = metrics[rule.metric], let level = Spread.median(values)
      else { return nil }
      let rise = level - anchor.level
      let tolerated = gate.tolerance(of: rule.metric).allowed(beside: values, of: rule.metric)
      guard Drift.isDrift(rise, tolerated: tolerated, noise: Spread.noise(values)) else { return nil }
      return Creep(metric: rule.metric, unit: unit(of: rule.metric), rise: rise, anchor: anchor, span: .approvals)
    }
  }
}

extension Gate {
  /// The tolerance of a metric's rule; the default one where it has none.
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
