import GateCore

/// What a metric's verdict means, in one or two sentences.
struct MetricSentence {
  let metric: MetricResult
  let scenario: ScenarioResult

  /// nil where the table says it all.
  var text: String? {
    let verdict: String?
    switch metric.verdict {
    case .pass, .skipped, .failed, .noBaseline: verdict = nil
    case .regression: verdict = regression
    case .improved: verdict = improvement
    case .inconclusive: verdict = inconclusive
    }
    return verdict.map { [$0, circumstances].compactMap(\.self).joined(separator: "; ") }
  }

  /// What is tolerated and what could be seen, in one line: `tolerance 3 %, at least 512 KiB; this baseline can see
  /// 0.9 % or more`; nil where nothing was compared.
  var sight: String? {
    guard let allowed = metric.allowed else { return nil }
    return ["tolerance \(rule(allowed))", resolution].compactMap(\.self).joined(separator: "; ")
  }

  /// When a spike came.
  private var circumstances: String? {
    guard metric.rule.metric == .spike, let spike = scenario.highestSpike else { return nil }
    return "the highest, \(Format.amount(spike.height)), came \(spike.circumstances)"
  }

  private var name: String { TerminalText.safe(metric.rule.metric.text) }

  private func amount(_ value: Double) -> String {
    Format.amount(value, unit: metric.unit)
  }

  private var regression: String {
    var parts: [String] = []
    if metric.isAboveLimit, let limit = metric.rule.limit?.value, let now = metric.current?.median {
      let excess = amount(now - limit)
      parts.append("\(name) is \(amount(now)), \(excess) above its limit of \(amount(limit))")
    }
    if let change = metric.change, let allowed = metric.allowed, change.shift > allowed, metric.method != .levels {
      parts.append("\(name) rose by \(amount(change.shift))\(share(change)), and \(allowance(allowed))")
      if metric.method == .thresholds { parts.append("no statistics: its size alone counts") }
    }
    if parts.isEmpty { parts.append(metric.reason.isEmpty ? "\(name) is worse" : TerminalText.safe(metric.reason)) }
    if metric.isWarning { parts.append("it only warns (`on: warn`)") }
    return parts.joined(separator: "; ")
  }

  private var improvement: String? {
    guard let change = metric.change, change.shift < 0, metric.method != .levels else { return reason }
    let fall = "\(name) fell by \(amount(-change.shift))\(share(change))"
    guard let allowed = metric.allowed, -change.shift > allowed else { return fall }
    return "\(fall), more than its tolerance of \(amount(allowed))"
  }

  private var inconclusive: String? {
    guard let change = metric.change, let allowed = metric.allowed,
      let spread = scenario.figure(of: metric.rule.metric)
    else {
      return metric.current == nil ? reason ?? "\(name) could not be had" : reason
    }
    let interval =
      "the true change of \(name) lies between \(Format.difference(change.low, unit: metric.unit)) and "
      + "\(Format.difference(change.high, unit: metric.unit)) (95\(Format.space)%), and \(allowance(allowed))"
    let values =
      "its \(Format.count(spread.count, "value")) \(spread.count == 1 ? "is" : "range from") \(amount(spread.lowest))"
      + (spread.count == 1 ? "" : " to \(amount(spread.highest))")
    let levels = metric.method == .levels ? reason : nil
    return [interval, values, levels].compactMap(\.self).joined(separator: "; ")
  }

  private var reason: String? {
    metric.reason.isEmpty ? nil : "\(name): " + TerminalText.safe(metric.reason)
  }

  /// The shift as a share of the baseline.
  private func share(_ change: MetricResult.Change) -> String {
    guard let base = metric.baseline?.median, base > 0 else { return "" }
    return " (\(Format.percent(change.shift / base * 100)))"
  }

  /// What the tolerance lets through, with the rule that says so.
  private func allowance(_ allowed: Double) -> String {
    let parts = [metric.rule.tolerance?.displayText, resolution].compactMap(\.self).filter { $0 != amount(allowed) }
    return "\(amount(allowed)) is allowed" + (parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))")
  }

  /// The rule, and what it came to where it does not say so itself.
  private func rule(_ allowed: Double) -> String {
    let rule = metric.rule.tolerance?.displayText ?? amount(allowed)
    return rule == amount(allowed) ? rule : "\(rule): \(amount(allowed))"
  }

  private var resolution: String? {
    guard let resolution = metric.resolution else { return nil }
    if resolution == 0 { return "this baseline can see any change" }
    let base = metric.rule.metric.isRate ? 0 : metric.baseline?.median ?? 0
    let text = base > 0 ? Format.share(resolution / base * 100) : amount(resolution)
    return "this baseline can see \(text) or more"
  }
}
