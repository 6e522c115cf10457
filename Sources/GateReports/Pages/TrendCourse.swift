import FoundationEssentials
import GateCore

/// One scenario's course as the page's template takes it: its row in the overview, and its section.
struct TrendCourse {
  let index: Int
  let course: ScenarioCourse
  let state: TrendState
  /// Whether the same scenario has a course on the main branch in this environment: then people come here for a few runs
  /// of work in progress, and the still markup is short.
  private let isAside: Bool
  private let trend: Trend

  init(trend: Trend, index: Int) {
    self.trend = trend
    self.index = index
    course = trend.courses[index]
    state = TrendState(of: course)
    let before = index > 0 ? trend.courses[index - 1] : nil
    isAside = before?.name == course.name && before?.environment == course.environment
  }

  var values: [String: Any] {
    row.merging(section) { row, _ in row }
  }

  private var place: String {
    let branch = course.branch.map(PageWords.shown) ?? "no branch"
    let tags = course.tags.map { "#\(PageWords.shown($0))" }
    return ([branch, PageWords.shown(course.environment)] + tags).joined(separator: " · ")
  }

  private func metric(_ name: MetricName) -> MetricCourse? {
    course.metrics.first { $0.metric == name }
  }

  private func run(_ entry: Int) -> RunInfo? {
    guard course.entries.indices.contains(entry) else { return nil }
    let run = course.entries[entry].run
    return trend.runs.indices.contains(run) ? trend.runs[run] : nil
  }
}

// MARK: - The row in the overview

extension TrendCourse {
  private var row: [String: Any] {
    let (peak, steady) = (metric(.peakRSS), metric(.steadyRSS))
    let step = lastStep
    return [
      "index": index, "name": PageWords.shown(course.name.text), "place": place,
      "stateWords": state.words, "stateSign": state.sign, "stateStyle": state.style,
      "peak": peak?.latestWords ?? "–", "peakChange": peak?.changeWords ?? "", "peakStyle": peak?.changeStyle ?? "",
      "steady": steady?.latestWords ?? "–", "steadyChange": steady?.changeWords ?? "",
      "steadyStyle": steady?.changeStyle ?? "",
      "sparkline": sparkline,
      "lastStep": [step?.words].compactMap(\.self), "lastStepWhen": step?.when ?? "", "stepStyle": step?.style ?? "",
    ]
  }

  private var sparkline: String {
    guard let metric = metric(.peakRSS) ?? course.metrics.first else { return "" }
    let bins = TrendBins(metric, of: course, atMost: 60)
    let marked = metric.steps.filter(\.isOpen).compactMap { step in
      bins.bins.firstIndex { $0.range.contains(step.entry) }
    }
    return SVGChart.sparkline(
      bins.bins.map { $0.point?.y }, marked: marked,
      title: "\(metric.metric) of \(PageWords.shown(course.name.text)): \(metric.kindText)")
  }

  private var lastStep: (words: String, when: String, style: String)? {
    let steps = course.metrics.flatMap { metric in metric.steps.map { (metric: metric, step: $0) } }
    guard let last = steps.max(by: { $0.step.entry < $1.step.entry }) else { return nil }
    let run = run(last.step.entry)
    let commit = run?.commit.map { " at \(PageWords.shown(String($0.prefix(9))))" } ?? ""
    let words = "\(PageWords.shown(last.metric.metric.text)) \(last.step.size(unit: last.metric.unit))"
    let when = "\(run?.startedAt.day ?? "")\(commit), \(last.step.causeInBrief)"
    return (words, when, last.step.isOpen ? "open-step" : "")
  }
}

extension MetricCourse {
  /// The last value that there is.
  fileprivate var latest: Point? { points.last { $0 != nil } ?? nil }

  fileprivate var latestWords: String? {
    latest.map { Format.amount($0.median, unit: unit) }
  }

  fileprivate var changeWords: String? {
    guard let judgement = latest?.judgement else { return nil }
    return judgement.percent.map(Format.percent) ?? judgement.change.map { Format.difference($0, unit: unit) }
  }

  /// A class of `page.css`.
  fileprivate var changeStyle: String {
    switch latest?.judgement?.verdict {
    case .regression: "verdict-regression"
    case .improved: "verdict-improved"
    default: ""
    }
  }

  /// As in `+5.3 % against 23.0 MiB; limit 32.0 MiB`.
  fileprivate var againstWords: String {
    let baseline = latest?.judgement?.baseline.map {
      "\(changeWords ?? "") against \(Format.amount($0, unit: unit))"
    }
    let limit = latest?.judgement?.limit.map { "limit \(Format.amount($0, unit: unit))" }
    return [baseline, limit].compactMap(\.self).joined(separator: "; ")
  }

  /// As in `23.1 MiB at first, 24.0 MiB at last, 26.2 MiB at most`.
  var kindText: String {
    let known = points.compactMap(\.self)
    guard let first = known.first, let last = known.last, let most = known.map(\.high).max() else { return "no values" }
    let values = [first.median, last.median, most].map { Format.amount($0, unit: unit) }
    return "\(values[0]) at first, \(values[1]) at last, \(values[2]) at most"
  }
}

// MARK: - The section

extension TrendCourse {
  /// More lines are read in the charts.
  private static let mostEvents = 60
  private var mostRuns: Int { isAside ? 4 : 12 }
  /// The others' pictures are made by scripts only.
  private var mostPictures: Int { isAside ? 2 : .max }

  private var section: [String: Any] {
    let events = TrendEvent.all(of: course)
    return [
      "runs": Format.count(course.runCount, "run") + span,
      "notes": course.metrics.compactMap { metric in
        metric.creep.map { PageWords.shown($0.displayText) }
      },
      "pictures": pictures,
      "eventCount": events.count,
      "events": events.suffix(Self.mostEvents).reversed().map(values),
      "metrics": course.metrics.map { PageWords.shown($0.metric.text) },
      "latestRuns": course.entries.indices.suffix(mostRuns).reversed().map(latestRun),
    ]
  }

  private var span: String {
    guard let first = run(0), let last = run(course.entries.count - 1) else { return "" }
    let days = [first.startedAt.day, last.startedAt.day]
    return days[0] == days[1] ? " on \(days[0])" : " from \(days[0]) to \(days[1])"
  }

  private var pictures: [[String: Any]] {
    let metrics = course.metrics.enumerated().map { place, metric -> [String: Any] in
      [
        "metric": PageWords.shown(metric.metric.text), "latest": metric.latestWords ?? "–",
        "against": metric.againstWords,
        "picture": place < mostPictures ? TrendPicture(trend: trend, course: course).text(of: metric) : "",
      ]
    }
    guard course.entries.contains(where: { $0.composition != nil }) else { return metrics }
    let composition: [String: Any] = [
      "metric": "composition", "latest": "", "against": "at the end of a run",
      "picture": isAside ? "" : TrendPicture(trend: trend, course: course).composition, "hasLegend": true,
      "legend": CompositionPart.allCases.map { ["name": $0.rawValue, "ink": $0.ink.rawValue] },
    ]
    return metrics + [composition]
  }

  private func values(of event: TrendEvent) -> [String: Any] {
    let run = run(event.entry)
    return [
      "day": run?.startedAt.day ?? "", "commit": PageWords.shown(String((run?.commit ?? "–").prefix(9))),
      "link": [PageWords.link(toCommit: run?.commit, by: trend.links)].compactMap(\.self),
      "kind": event.kind.rawValue, "sign": event.kind.sign,
      "style": event.kind == .openStep ? "open" : event.kind.rawValue,
      "text": event.words,
    ]
  }

  private func latestRun(_ entry: Int) -> [String: Any] {
    let run = run(entry)
    return [
      "day": run?.startedAt.day ?? "", "commit": PageWords.shown(String((run?.commit ?? "–").prefix(9))),
      "verdict": course.entries[entry].verdict.rawValue, "subject": PageWords.shown(run?.subject ?? ""),
      "values": course.metrics.map { metric in
        metric.points[entry].map { Format.amount($0.median, unit: metric.unit) } ?? "–"
      },
    ]
  }
}

extension TrendEvent.Kind {
  /// The shape that marks it in the charts, too.
  var sign: String {
    switch self {
    case .openStep: "▲"
    case .step: "△"
    case .approval: "◆"
    case .environment: "┊"
    case .trouble: "✕"
    }
  }
}
