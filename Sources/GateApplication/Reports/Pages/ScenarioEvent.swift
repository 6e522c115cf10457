import GateCore

/// An event of a scenario in a run, or between it and the previous run.
struct ScenarioEvent {
  enum Kind: String {
    case regression
    case unexplainedRise = "unexplained rise"
    case shift = "level shift"
    case approval, environment, failure

    /// The class of `trend.css` for its colour.
    var style: String { self == .unexplainedRise ? "rise" : self == .shift ? "shift" : rawValue }

    /// The shape of its mark, also in the charts.
    var sign: String {
      switch self {
      case .regression: "✗"
      case .unexplainedRise: "▲"
      case .shift: "△"
      case .approval: "◆"
      case .environment: "┊"
      case .failure: "✕"
      }
    }
  }

  /// The index of its run in ``ScenarioSeries/runs``.
  var index: Int
  var kind: Kind
  var metric: MetricName?
  var text: String
  /// The label of its mark in a chart.
  var label = ""

  private static let mostFailuresOfRun = 3

  /// In order of time.
  static func all(of series: ScenarioSeries) -> [ScenarioEvent] {
    let shifts = series.metrics.flatMap { metric in metric.shifts.map { ScenarioEvent($0, of: metric) } }
    let approvals = series.approvals.map { approved in
      let text = "baseline " + PageWords.shown(approved.approval.displayText)
      return ScenarioEvent(index: approved.index, kind: .approval, text: text)
    }
    let changes = series.environmentChanges.map { change in
      ScenarioEvent(index: change.index, kind: .environment, text: PageWords.shown(change.differences.displayText))
    }
    let failures = series.runs.enumerated().flatMap { index, run in
      run.failedRepetitions.prefix(mostFailuresOfRun).map { failed in
        ScenarioEvent(
          index: index, kind: .failure,
          text: "repetition \(failed.number): \(PageWords.shown(failed.loop?.displayText ?? failed.end.displayText))",
          label: failed.loop == nil ? failed.end.kind.rawValue : "loop")
      }
    }
    let all = failures + changes + approvals + shifts + regressions(in: series)
    return all.sorted { $0.index < $1.index }
  }

  /// The runs in which metrics began to fail, as one event each.
  private static func regressions(in series: ScenarioSeries) -> [ScenarioEvent] {
    series.runs.indices.compactMap { index in
      let began = series.metrics.filter { $0.fails(at: index) && !(index > 0 && $0.fails(at: index - 1)) }
      guard !began.isEmpty else { return nil }
      let explanation = series.runs[index].explanation.flatMap {
        $0.finding.culprit == nil ? nil : PageWords.shown($0.text)
      }
      let texts =
        began.map { "\(PageWords.shown($0.metric.text)) \($0.failureText(at: index))" }
        + [explanation].compactMap(\.self)
      return ScenarioEvent(index: index, kind: .regression, text: texts.joined(separator: "; "))
    }
  }
}

extension ScenarioEvent {
  private init(_ shift: LevelShift, of metric: MetricSeries) {
    let size = shift.sizeText(unit: metric.unit)
    let levels = [shift.before, shift.after].map { Format.amount($0, unit: metric.unit) }
    let text =
      "\(PageWords.shown(metric.metric.text)) \(size), from \(levels[0]) to \(levels[1]); \(shift.chanceText)"
    // The kind of an unexplained rise says so.
    self.init(
      index: shift.index, kind: shift.isUnexplainedRise ? .unexplainedRise : .shift, metric: metric.metric,
      text: shift.isUnexplainedRise ? text : "\(text); \(shift.explanationText)", label: size)
  }
}

extension MetricSeries {
  fileprivate func fails(at index: Int) -> Bool { points[index]?.judgement?.verdict == .regression }

  /// As in `73.4 MiB → 78.0 MiB (+6.3 %)`, or as in `3.8 MiB/s, above its limit of 20 KiB/s`.
  fileprivate func failureText(at index: Int) -> String {
    guard let point = points[index], let judgement = point.judgement else { return "" }
    func amount(_ value: Double) -> String { Format.amount(value, unit: unit) }
    let now = amount(point.median)
    if let limit = judgement.limit, point.median > limit { return "\(now), above its limit of \(amount(limit))" }
    return judgement.baseline.map { "\(amount($0)) → \(now)" + Format.bracketedPercent(point.percent) } ?? now
  }
}

extension LevelShift {
  /// As in `+1.2 MiB (+5.3 %)`.
  func sizeText(unit: String) -> String {
    let percent = before > 0 ? Format.bracketedPercent((after - before) / before * 100) : ""
    return Format.difference(after - before, unit: unit) + percent
  }

  fileprivate var chanceText: String {
    chance < 1e-6 ? "p < 0.000001" : "p = \(Decimals.text(chance, places: chance < 0.001 ? 6 : 3))"
  }

  var explanationText: String {
    switch explanation {
    case .approval(let approval): PageWords.shown(approval.displayText)
    case .environment(let differences): "environment changed: \(PageWords.shown(differences.displayText))"
    case .acknowledgement(let acknowledgement): PageWords.shown(acknowledgement.displayText)
    case nil: after < before ? "unexplained fall" : persists ? "unexplained" : "unexplained, reverted since"
    }
  }

  /// ``explanationText`` for a table's cell.
  var shortExplanationText: String {
    switch explanation {
    case .approval(let approval): "approved by \(PageWords.shown(approval.by))"
    case .environment(let differences):
      "environment changed: \(differences.map(\.field.rawValue).joined(separator: ", "))"
    case .acknowledgement(let acknowledgement): "acknowledged by \(PageWords.shown(acknowledgement.by))"
    case nil: explanationText
    }
  }
}
