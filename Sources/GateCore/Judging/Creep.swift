import Statistics

extension Baseline {
  /// Takes over the anchors of the baseline that this one replaces.
  ///
  /// A rise above the tolerance was visible and accepted with the approval, so it raises the anchor; a smaller rise
  /// does not. A level below the anchor becomes the new anchor.
  package mutating func continueAnchors(of previous: Baseline, gate: Gate) {
    anchors = [:]
    for (metric, values) in metrics where !metric.isRate && units[metric] == previous.units[metric] {
      guard let before = previous.metrics[metric], let level = Spread.median(values),
        var anchor = previous.anchors[metric] ?? previous.anchor(at: Spread.median(before)),
        let rise = Shift(from: before, to: values)?.estimate
      else { continue }
      if rise > gate.tolerance(of: metric).allowed(above: before, of: metric) { anchor.level += rise }
      if anchor.level < level { anchors[metric] = anchor }
    }
  }

  func anchor(at level: Double?) -> Anchor? {
    guard let level, let approval else { return nil }
    return Anchor(level: level, at: approval.at, commit: approval.commit)
  }

  /// The gated metrics that have crept up from their anchors, according to ``Drift``.
  package func creep(under gate: Gate) -> [Creep] {
    gate.rules.filter { $0.severity != .off }.compactMap { rule in
      guard let anchor = anchors[rule.metric], let values = metrics[rule.metric], let level = Spread.median(values)
      else { return nil }
      let rise = level - anchor.level
      let tolerated = gate.tolerance(of: rule.metric).allowed(above: values, of: rule.metric)
      guard Drift.isDrift(rise, tolerated: tolerated, noise: Spread.noise(values)) else { return nil }
      return Creep(metric: rule.metric, unit: unit(of: rule.metric), rise: rise, anchor: anchor, span: .approvals)
    }
  }
}

extension Gate {
  /// The tolerance of a metric's rule, or the default tolerance.
  package func tolerance(of metric: MetricName) -> Tolerance {
    rules.first { $0.metric == metric }?.tolerance ?? .standard(of: metric)
  }
}
