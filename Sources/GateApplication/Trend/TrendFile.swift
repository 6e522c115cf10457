import FoundationEssentials
import GateCore

/// A trend as JSON (`highwater.trend/1`), for other programs; not read by this one.
enum TrendFile {
  static func encode(_ trend: Trend) -> [UInt8] {
    JSON.encode(WithSchema(schema: .trend, content: TrendDocument(trend)), .pretty)
  }
}

/// Levels are in the metric's unit.
private struct TrendDocument: Encodable {
  let tool = Tool.fields
  let createdAt: Date
  let runCount: Int
  let setAside: [RunReference]
  let events: [EventDocument]
  let scenarios: [SeriesDocument]

  init(_ trend: Trend) {
    (createdAt, runCount) = (trend.createdAt, trend.runCount)
    setAside = trend.setAside.map { RunReference(trend.runs[$0]) }
    events = trend.events.map(EventDocument.init)
    let events = trend.eventsOfSteps
    scenarios = trend.series.indices.map { SeriesDocument($0, of: trend, events) }
  }
}

// MARK: - Scenarios

private struct SeriesDocument: Encodable {
  let name: ScenarioName
  let tags: [String]
  let environment: String
  let branch: String?
  let runs: Int
  let first: RunReference?
  let latest: RunReference?
  let verdict: Verdict?
  let metrics: [LevelsDocument]
  let steps: [StepDocument]

  init(_ number: Int, of trend: Trend, _ events: [TrendEvent.Step: Int]) {
    let series = trend.series[number]
    func run(_ index: Int) -> RunReference { RunReference(trend.runs[series.runs[index].index]) }
    (name, tags, environment, branch) = (series.name, series.tags, series.environment, series.branch)
    (runs, verdict) = (series.runCount, series.runs.last?.verdict)
    (first, latest) = (series.runs.indices.first.map(run), series.runs.indices.last.map(run))
    metrics = series.metrics.map { LevelsDocument($0, run) }
    steps = series.metrics.flatMap { metric in
      metric.shifts.map { shift in
        let event = events[TrendEvent.Step(series: number, metric: metric.metric, run: shift.index)]
        return StepDocument(shift, of: metric, event: event.map { trend.events[$0].id }, run)
      }
    }
  }
}

private struct LevelsDocument: Encodable {
  struct Level: Encodable {
    let from: RunReference
    let median: Double
  }

  struct Latest: Encodable {
    let median: Double
    let verdict: Verdict?
    let baseline: Double?
  }

  let name: MetricName
  let unit: String
  let latest: Latest?
  let levels: [Level]
  /// nil if the program has one level.
  let alternatingLevels: [Double]?
  let creep: CreepDocument?
  let outliers: [RunReference]

  init(_ metric: MetricSeries, _ run: (Int) -> RunReference) {
    (name, unit) = (metric.metric, metric.unit)
    latest = (metric.points.last { $0 != nil } ?? nil).map { point in
      Latest(median: point.median, verdict: point.judgement?.verdict, baseline: point.judgement?.baseline)
    }
    levels = metric.segments.map { Level(from: run($0.start), median: $0.median) }
    alternatingLevels = metric.levels.isEmpty ? nil : metric.levels
    creep = metric.creep.map(CreepDocument.init)
    outliers = metric.outliers.map(run)
  }
}

private struct CreepDocument: Encodable {
  let rise: Double
  let from: Double
  let at: Date
  let commit: String?
  let runs: Int?

  init(_ creep: Creep) {
    (rise, from, at, commit) = (creep.rise, creep.anchor.level, creep.anchor.at, creep.anchor.commit)
    if case .runs(let count) = creep.span { runs = count } else { runs = nil }
  }
}

private struct StepDocument: Encodable {
  let metric: MetricName
  let event: String?
  let run: String
  let at: Date
  let commit: String?
  let before: RunReference?
  let from: Double
  let to: Double
  let percent: Double?
  let pValue: Double
  let persists: Bool

  init(_ shift: LevelShift, of metric: MetricSeries, event: String?, _ run: (Int) -> RunReference) {
    (self.metric, self.event) = (metric.metric, event)
    let after = run(shift.index)
    (self.run, at, commit) = (after.run, after.at, after.commit)
    before = shift.index > 0 ? run(shift.index - 1) : nil
    (from, to, pValue, persists) = (shift.before, shift.after, shift.chance, shift.persists)
    percent = shift.before > 0 ? (shift.after - shift.before) / shift.before * 100 : nil
  }
}
