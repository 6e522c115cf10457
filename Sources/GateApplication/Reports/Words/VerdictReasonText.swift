import GateCore

extension MetricResult {
  /// The reason for the verdict in one sentence; nil if there is nothing to explain.
  var reasonText: String? {
    guard let reason else { return nil }
    var parts: [String?] =
      switch reason {
      case .noBaseline: ["no baseline is stored for this environment"]
      case .notInBaseline: ["the baseline does not have \(metric); approve again to add it"]
      case .fewer(let wanted):
        [
          "\(metric) is \(amount(current?.median ?? 0)), \(amount(wanted - (current?.median ?? wanted))) below "
            + (rule.limit == nil ? "the baseline of an `exact` rule; approve it" : "its `exact` limit; lower the limit")
        ]
      case .rise: [riseText, methodText]
      case .fall: [fallText, methodText]
      case .undecided(let bound): [intervalText(upTo: bound), valuesText, detectableText]
      case .levels(let levels, let outcome): [text(of: outcome), text(of: levels)]
      case .aboveLimit(let excess): [limitText(atLeastBy: excess), isRise ? riseText : nil]
      case .nearLimit(let low, let high):
        ["\(metric) is between \(amount(low)) and \(amount(high)) (95\(Format.space)% interval), \(limitText)"]
      case .riseWhileSettling: [riseText, "\(Growth.settlingText); a longer scenario shows whether it ends"]
      case .aboveLimitWhileSettling:
        [
          "\(metric) is above its limit of \(limitAmount)",
          "\(Growth.settlingText); a longer scenario shows whether it ends",
        ]
      case .unavailable(let cause): ["\(metric) is unavailable: \(cause.text(for: metric))"]
      case .doesNotSurvive(let run):
        ["does not survive \(Format.amount(run.limit)): \(run.outcomeText)", run.timeText, run.evidenceText]
      case .mixedTreeMethods(let methods):
        ["the repetitions counted their process trees by different methods: \(Self.list(methods.map(\.rawValue)))"]
      case .otherTreeMethod(let before, let now):
        [
          "the process trees were counted by another method in the baseline (\(before.rawValue)) than now "
            + "(\(now.rawValue)); approve again"
        ]
      case .mixedUnits(let units): ["\(metric) was reported in different units: \(Self.list(units))"]
      case .wrongUnitInGate(let amount, let unit):
        ["the gate gives `\(amount.spelled)` for \(metric), but the target reports it in \(unit)"]
      case .otherUnit(let before, let now):
        ["\(metric) is in \(before) in the baseline, and in \(now) now; approve again"]
      case .test(let test, let reason):
        [
          test.name + (test.placeText.isEmpty ? " " : " (\(test.placeText)) ") + reason.displayText
            + (reason.hint.map { "; \($0)" } ?? "")
        ]
      case .incomplete(let note): ["\(metric) may be higher: \(note.displayText)"]
      }
    if isWarning { parts.append("warning only (`on: warn`)") }
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  /// The allowed change and the detectable change; nil without a comparison.
  var sensitivityText: String? {
    guard allowed != nil else { return nil }
    return [allowedText, detectableText].compactMap(\.self).joined(separator: "; ")
  }

  /// The smallest change that this comparison could have detected, and the limit due to the baseline's noise alone.
  var detectableText: String? {
    guard let detectable else { return nil }
    let text = "smallest detectable change: \(amount(detectable))"
    guard let resolution, resolution < detectable else { return text }
    return "\(text) (without a tolerance: \(amount(resolution))\(share(resolution)))"
  }

  /// As in `675.8 KiB is allowed (3 %, at least 512 KiB)`.
  private var allowedText: String? {
    allowed.map { allowed in
      let rule = rule.tolerance?.displayText
      let isPlural = !MetricUnit.isMemory(unit) && unit != "seconds" && allowed != 1
      return "\(amount(allowed)) \(isPlural ? "are" : "is") allowed"
        + (rule.map { $0 == amount(allowed) ? "" : " (\($0))" } ?? "")
    }
  }

  private var riseText: String {
    guard let change else { return "\(metric) rose by more than is allowed" }
    let estimate =
      told(change) == change.absolute ? "" : ", the median difference between its values and the baseline's"
    let rise = "\(metric) rose by \(amount(told(change)))\(signedShare(told(change)))\(estimate)"
    return [rise, allowedText].compactMap(\.self).joined(separator: "; ")
  }

  private var fallText: String {
    guard let change else { return "\(metric) fell by more than its tolerance" }
    let fall = "\(metric) fell by \(amount(-told(change)))\(signedShare(told(change)))"
    return fall + (allowed.map { ", more than its tolerance of \(amount($0))" } ?? "")
  }

  /// The change of the medians, as tables show it, unless only the judge's estimate is beyond what is allowed.
  private func told(_ change: Change) -> Double {
    let isBeyond = change.absolute.magnitude > (allowed ?? 0) && (change.absolute < 0) == (change.shift < 0)
    return isBeyond ? change.absolute : change.shift
  }

  private var methodText: String? {
    method == .thresholds && !metric.isCounted
      ? "too few values for a statistical test, so only the size of the change decides" : nil
  }

  private func intervalText(upTo bound: Double) -> String {
    let interval =
      change.map { change in
        let ends = [change.low, change.high].map { Format.difference($0, unit: unit) }
        return "the change of \(metric) is between \(ends[0]) and \(ends[1]) (95\(Format.space)% interval)"
      } ?? "\(metric) may have risen by up to \(amount(bound))"
    return [interval, allowedText].compactMap(\.self).joined(separator: "; ")
  }

  private var valuesText: String? {
    guard let current, let range = current.range, current.count > 1 else { return nil }
    return "its \(current.count) values range from \(amount(range.lowerBound)) to \(amount(range.upperBound))"
  }
}

// MARK: - Two levels

extension MetricResult {
  private func text(of outcome: VerdictReason.LevelsOutcome) -> String {
    switch outcome {
    case .rise where isRise: riseText
    case .rise: "\(metric) is at the higher of its two levels more often"
    case .fall where (change?.shift ?? 0) < 0: fallText
    case .fall: "\(metric) is at the higher of its two levels less often"
    case .level: "\(metric) is within what its two levels explain"
    case .undecided(let bound): intervalText(upTo: bound)
    }
  }

  private func text(of levels: TwoLevels) -> String { levels.text(unit: unit) }
}

extension TwoLevels {
  func text(unit: String) -> String {
    let (low, high) = (Format.amount(low, unit: unit), Format.amount(high, unit: unit))
    return
      "its values jump between \(low) and \(high): \(highBefore) of \(countBefore) were at the higher level in the "
      + "baseline, \(highNow) of \(countNow) are now"
  }
}

// MARK: - Limits and amounts

extension MetricResult {
  /// Whether it is above its absolute limit, or did not survive it, which no baseline can change.
  var isAboveLimit: Bool {
    if metric == .limit { return verdict == .regression }
    guard let limit = rule.limit, let now = current?.median else { return false }
    return now > limit.value
  }

  /// Whether it rose by more than its tolerance allows.
  var isRise: Bool {
    guard let shift = change?.shift, let allowed else { return false }
    return shift > allowed
  }

  /// Whether it failed with a rule that only warns.
  var isWarning: Bool { verdict == .regression && rule.severity == .warn }

  private var limitAmount: String { rule.limit.map { amount($0.value) } ?? "unknown" }
  private var limitText: String { "and its limit is \(limitAmount)" }

  private func limitText(atLeastBy excess: Double?) -> String {
    guard let now = current?.median, let limit = rule.limit?.value else { return "\(metric) is above its limit" }
    let least = excess.map { " (95\(Format.space)% confidence: at least \(amount($0)))" } ?? ""
    return "\(metric) is \(amount(now)), \(amount(now - limit)) above its limit of \(limitAmount)\(least)"
  }

  private func amount(_ value: Double) -> String { Format.amount(value, unit: unit) }

  /// As in ` (+5.7 %)`; empty if the metric has no level.
  private func signedShare(_ value: Double) -> String {
    guard let base = baseline?.median, base > 0 else { return "" }
    return Format.bracketedPercent(value / base * 100)
  }

  /// As in `, 0.43 %`; empty if the metric has no level.
  private func share(_ value: Double) -> String {
    guard !metric.isRate, let base = baseline?.median, base > 0 else { return "" }
    let text = Format.share(value / base * 100)
    return text.isEmpty ? "" : ", \(text)"
  }

  private static func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension MetricName {
  /// The name in tables; a rate is followed by its unit of time or `/iter`, unless the name says it.
  func label(unit: String) -> String {
    TerminalText.safe(text) + (kind == .perItem ? "" : MetricUnit.shortSuffix(of: unit))
  }
}
