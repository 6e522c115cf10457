import FoundationEssentials
import GateCore

/// One series for the page's template: its row in the overview, and its section.
struct TrendSection {
  let number: Int
  let series: ScenarioSeries
  let state: TrendState
  /// Whether it has static charts, which make up most of the page.
  var hasPictures = true
  private let trend: Trend
  /// Whether the scenario also has a series on the main branch in this environment: other branches are shown in short.
  private let isOtherBranch: Bool
  /// The number of scenarios in the event of each step.
  private let sharers: [TrendEvent.Step: Int]

  init(number: Int, of trend: Trend, sharers: [TrendEvent.Step: Int]) {
    (self.trend, self.sharers) = (trend, sharers)
    self.number = number
    series = trend.series[number]
    state = TrendState(of: series)
    let before = number > 0 ? trend.series[number - 1] : nil
    isOtherBranch = before?.name == series.name && before?.environment == series.environment
  }

  var values: [String: Any] {
    let own: [String: Any] = [
      "number": number, "name": PageWords.breakable(series.name.text), "origin": origin,
      "state": state.display.text, "stateSign": state.display.sign, "stateStyle": state.display.style,
    ]
    return own.merging(row) { first, _ in first }.merging(section) { first, _ in first }
  }

  /// As in `main · linux-x86_64-2cpu-traced · #server`.
  private var origin: String {
    let branch = series.branch.map(PageWords.shown) ?? "no branch"
    let tags = series.tags.map { "#\(PageWords.shown($0))" }
    return ([branch, PageWords.shown(series.environment)] + tags).joined(separator: " · ")
  }

  private func run(_ index: Int) -> RunInfo? {
    guard series.runs.indices.contains(index) else { return nil }
    let run = series.runs[index].index
    return trend.runs.indices.contains(run) ? trend.runs[run] : nil
  }

  private func commit(_ index: Int) -> String {
    PageWords.shown(run(index)?.commitText() ?? "–")
  }
}

// MARK: - The row in the overview

extension TrendSection {
  private var row: [String: Any] {
    let peak = series.metrics.first { $0.metric == .peakRSS }
    let steady = series.metrics.first { $0.metric == .steadyRSS }
    let shift = lastShift
    return [
      "peak": peak?.latestText ?? "–", "peakChange": peak?.changeText ?? "", "peakStyle": peak?.changeStyle ?? "",
      "steady": steady?.latestText ?? "–", "steadyChange": steady?.changeText ?? "",
      "steadyStyle": steady?.changeStyle ?? "",
      "sparkline": (peak ?? series.metrics.first).map(TrendPicture(trend: trend, series: series).sparkline) ?? "",
      "culprits": culprits,
      "lastShift": [shift?.text].compactMap(\.self), "lastShiftWhen": shift?.when ?? "",
      "shiftStyle": shift?.style ?? "",
    ]
  }

  /// The metrics that fail the latest run, as in `growth 3.8 MiB/s`; those in the columns need no mention.
  private var culprits: [String] {
    let texts = series.metrics.filter { $0.isFailing && !MetricName.headlines.contains($0.metric) }.map { metric in
      let change = metric.changeText ?? metric.latestText ?? ""
      return "\(PageWords.shown(metric.metric.text)) \(change)"
    }
    return texts.isEmpty ? [] : [texts.joined(separator: ", ")]
  }

  private var lastShift: (text: String, when: String, style: String)? {
    let shifts = series.metrics.flatMap { metric in metric.shifts.map { (metric: metric, shift: $0) } }
    guard let (metric, shift) = shifts.max(by: { $0.shift.index < $1.shift.index }) else { return nil }
    let run = run(shift.index)
    let commit = run?.commit == nil ? "" : " at \(commit(shift.index))"
    return (
      "\(PageWords.shown(metric.metric.text)) \(shift.sizeText(unit: metric.unit))",
      "\(run?.startedAt.day ?? "")\(commit), \(shift.shortExplanationText)",
      shift.isUnexplainedRise ? "unexplained-rise" : ""
    )
  }
}

extension MetricSeries {
  private var latest: Point? { points.last { $0 != nil } ?? nil }

  fileprivate var latestText: String? {
    latest.map { Format.amount($0.median, unit: unit) }
  }

  fileprivate var changeText: String? {
    latest.flatMap { point in
      point.change.map { Format.change(percent: point.percent, absolute: $0, unit: unit) }
        ?? point.percent.map(Format.percent)
    }
  }

  /// Whether it is shown on request only: no rule judges it, the target does not report it, and it is not a headline.
  fileprivate var isFolded: Bool {
    !metric.isValue && !MetricName.headlines.contains(metric) && !points.contains { $0?.judgement != nil }
  }

  fileprivate var isFailing: Bool { latest?.judgement?.verdict == .regression }

  /// A class of `page.css`.
  fileprivate var changeStyle: String {
    switch latest?.judgement?.verdict {
    case .regression: "verdict-regression"
    case .improved: "verdict-improved"
    default: ""
    }
  }

  /// As in `+5.3 % vs. baseline 23.0 MiB; limit 32.0 MiB`.
  fileprivate var comparisonText: String {
    let baseline = latest?.judgement?.baseline.map {
      "\(changeText ?? "") vs. baseline \(Format.amount($0, unit: unit))"
    }
    let limit = latest?.judgement?.limit.map { "limit \(Format.amount($0, unit: unit))" }
    return [baseline, limit].compactMap(\.self).joined(separator: "; ")
  }
}

// MARK: - The section

extension TrendSection {
  /// The charts have the remaining events.
  private static let mostEvents = 60
  private var mostRuns: Int { !hasPictures ? 1 : isOtherBranch ? 4 : 12 }
  /// The scripts draw the remaining charts.
  private var mostPictures: Int { !hasPictures ? 0 : isOtherBranch ? 2 : .max }

  private var section: [String: Any] {
    let events = ScenarioEvent.all(of: series)
    return [
      "runs": runs,
      "notes": series.metrics.compactMap { metric in metric.creep.map { PageWords.shown($0.displayText) } },
      "pictures": pictures, "hasFold": foldedCount > 0,
      "eventCount": events.count,
      "events": events.suffix(Self.mostEvents).reversed().map(values),
      "metrics": series.metrics.map { PageWords.shown($0.metric.text) },
      "latestRuns": series.runs.indices.suffix(mostRuns).reversed().map(latestRun),
    ]
  }

  /// As in `707 runs from 2026-01-02 to 2026-11-20; the charts have 407 of them: …`.
  private var runs: String {
    let all = Format.count(series.runCount, "run") + TrendPage.period(from: run(0), to: run(series.runs.count - 1))
    guard series.runs.contains(where: { $0.omitted > 0 }) else { return all }
    return "\(all); the charts have \(series.runs.count) of them: the latest, and older ones with extremes or changes"
  }

  private var pictures: [[String: Any]] {
    let picture = TrendPicture(trend: trend, series: series)
    let judged = series.metrics.filter { !$0.isFolded }
    let ordered = judged.filter(\.isFailing) + judged.filter { !$0.isFailing } + series.metrics.filter(\.isFolded)
    let metrics = ordered.enumerated().map { number, metric -> [String: Any] in
      [
        "fold": number == judged.count ? ["\(Format.count(foldedCount, "metric")) without a rule in the gate"] : [],
        "comparisonStyle": metric.changeStyle.isEmpty ? "quiet" : metric.changeStyle,
        "metric": PageWords.shown(metric.metric.text), "latest": metric.latestText ?? "–",
        "comparison": metric.comparisonText,
        "picture": number < mostPictures ? picture.chart(of: metric) : "",
      ]
    }
    guard series.runs.contains(where: { $0.composition != nil }) else { return metrics }
    let composition: [String: Any] = [
      "metric": "composition", "latest": "", "comparison": "at the end of a run", "comparisonStyle": "quiet",
      "picture": isOtherBranch || !hasPictures ? "" : picture.composition, "hasLegend": true,
      "legend": CompositionPart.allCases.map { ["name": $0.rawValue, "ink": $0.ink.rawValue] },
    ]
    return metrics.prefix(judged.count) + [composition] + metrics.dropFirst(judged.count)
  }

  private var foldedCount: Int { series.metrics.count(where: \.isFolded) }

  /// As in `; with 39 other scenarios`; empty for an event of this scenario alone.
  private func companions(of event: ScenarioEvent) -> String {
    guard let metric = event.metric,
      let count = sharers[TrendEvent.Step(series: number, metric: metric, run: event.index)]
    else { return "" }
    return count > 1 ? "; with \(Format.count(count - 1, "other scenario"))" : ""
  }

  private func values(of event: ScenarioEvent) -> [String: Any] {
    [
      "time": run(event.index)?.startedAt.minute ?? "", "commit": commit(event.index),
      "link": [PageWords.link(toCommit: run(event.index)?.commit, by: trend.links)].compactMap(\.self),
      "kind": event.kind.rawValue, "sign": event.kind.sign, "style": event.kind.style,
      "text": event.text + companions(of: event),
    ]
  }

  private func latestRun(_ index: Int) -> [String: Any] {
    [
      "time": run(index)?.startedAt.minute ?? "", "commit": commit(index),
      "verdict": series.runs[index].verdict.rawValue, "subject": PageWords.shown(run(index)?.subject ?? ""),
      "values": series.metrics.map { metric in
        metric.points[index].map { Format.amount($0.median, unit: metric.unit) } ?? "–"
      },
    ]
  }
}
