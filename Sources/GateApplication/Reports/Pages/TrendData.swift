import FoundationEssentials
import GateCore

/// A trend as JSON in columns for the page's scripts.
///
/// Its size determines the page's. So values are whole numbers in the largest unit in which they are whole
/// (``Metric/scale``), each as the difference from the previous one; ranges are distances from the median; and values
/// that seldom change are run-length encoded.
struct TrendData: Encodable {
  let commitURL: String?
  /// The numbers in `verdict` are indices into it.
  let verdicts = Verdict.allCases.map(\.rawValue)
  let inks = CompositionPart.allCases.map(\.ink.rawValue)
  let runs: Runs
  let series: [Series]
  let events: [SharedEvent]

  struct Runs: Encodable {
    let id: [String]
    let time: Column
    let commit: RunLengths<String>
    let dirty: RunLengths<Bool>
    let subject: RunLengths<String>
    let build: RunLengths<String>
  }

  struct Series: Encodable {
    let name: String
    let tags: [String]
    let env: String
    let branch: String?
    let state: Int
    let run: Column
    let verdict: Column
    let omitted: RunLengths<Int>
    /// The indices of the runs that were set aside.
    let aside: Column
    let events: [Event]
    let parts: [Part]
    let metrics: [Metric]
  }

  /// An event of the overview, with the indices of its series.
  struct SharedEvent: Encodable {
    let id: String
    let series: Column
  }

  struct Event: Encodable {
    let index: Int
    let kind: String
    let metric: String?
    let text: String
    let label: String
  }

  /// A part of the composition, in KiB.
  struct Part: Encodable {
    let name: String
    let amount: Column
  }

  struct Metric: Encodable {
    let name: String
    let unit: String
    /// The value of 1 in the columns: 1024, 1, or 0.1 for rates; decimal fractions for reported values.
    let scale: Double
    let median: Column
    let below: Column
    let above: Column
    let verdict: Column
    let baseline: RunLengths<Int64>
    let allowed: RunLengths<Int64>
    let limit: RunLengths<Int64>
    /// The index of the run from which the creep is measured.
    let creepStart: Int?
  }

  /// Whole numbers as one string, as in `12 - 7*3`; `-` is a missing value, and `7*3` is `7 7 7`.
  ///
  /// The encoder takes several times as long for an array.
  struct Column: Encodable {
    private let text: String

    init(_ values: [Int64?]) {
      let lengths = RunLengths(values)
      text = zip(lengths.counts, lengths.values).map { count, value in
        (value.map { "\($0)" } ?? "-") + (count > 1 ? "*\(count)" : "")
      }.joined(separator: " ")
    }

    /// Each value as the difference from the last known one, the first from zero.
    init(differencesOf values: [Int64?]) {
      var last: Int64 = 0
      self.init(
        values.map { value in
          defer { last = value ?? last }
          return value.map { $0 &- last }
        })
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  /// Run-length encoded values.
  struct RunLengths<Value: Encodable & Equatable>: Encodable {
    private(set) var counts: [Int] = []
    private(set) var values: [Value?] = []

    init(_ column: [Value?]) {
      for value in column {
        if !counts.isEmpty, values.last == .some(value) {
          counts[counts.count - 1] += 1
        } else {
          counts.append(1)
          values.append(value)
        }
      }
    }
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // All numbers are finite, so this cannot fail.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}

// MARK: - Of a trend

extension TrendData {
  init(_ trend: Trend, states: [TrendState]) {
    commitURL = PageWords.link(trend.links.commit)
    runs = Runs(trend.runs)
    series = zip(trend.series, states).map { Series($0, $1) }
    events = trend.events.map { event in
      let series = Set(event.changes.map { Int64($0.series) }).sorted()
      return SharedEvent(id: PageWords.shown(event.id), series: .init(differencesOf: series))
    }
  }

  private static func column(_ verdicts: [Verdict?]) -> Column {
    Column(verdicts.map { $0.flatMap(Verdict.allCases.firstIndex).map(Int64.init) })
  }
}

extension TrendData.Runs {
  fileprivate init(_ runs: [RunInfo]) {
    // The end of a version 7 UUID is random, and identifies a run in a link.
    id = runs.map { PageWords.shown(String($0.id.suffix(12))) }
    time = .init(differencesOf: runs.map { Int64($0.startedAt.timeIntervalSince1970.rounded()) })
    commit = .init(runs.map { $0.commit.map(PageWords.shown) })
    dirty = .init(runs.map(\.isDirty))
    subject = .init(runs.map { $0.subject.map(PageWords.shown) })
    build = .init(runs.map { PageWords.link($0.buildURL) })
  }
}

extension TrendData.Series {
  fileprivate init(_ series: ScenarioSeries, _ state: TrendState) {
    name = PageWords.shown(series.name.text)
    tags = series.tags.map(PageWords.shown)
    env = PageWords.shown(series.environment)
    branch = series.branch.map(PageWords.shown)
    self.state = state.rawValue
    run = .init(differencesOf: series.runs.map { Int64($0.index) })
    verdict = TrendData.column(series.runs.map(\.verdict))
    omitted = .init(series.runs.map(\.omitted))
    aside = .init(differencesOf: series.runs.indices.filter { series.runs[$0].isSetAside }.map { Int64($0) })
    events = ScenarioEvent.all(of: series).map { event in
      TrendData.Event(
        index: event.index, kind: event.kind.style, metric: event.metric.map { PageWords.shown($0.text) },
        text: event.text, label: event.label)
    }
    parts = CompositionPart.allCases.map { part in
      let amounts = series.runs.map { run in run.composition.map { part.amount(in: $0).count / 1024 } }
      return TrendData.Part(name: part.rawValue, amount: .init(differencesOf: amounts))
    }
    metrics = series.metrics.map { TrendData.Metric($0) }
  }
}

extension TrendData.Metric {
  fileprivate init(_ metric: MetricSeries) {
    let scale = Self.scale(of: metric)
    func whole(_ value: Double?) -> Int64? { value.map { Int64(exactly: ($0 / scale).rounded()) ?? 0 } }
    func column(_ value: (MetricSeries.Judgement) -> Double?) -> TrendData.RunLengths<Int64> {
      .init(metric.points.map { whole($0?.judgement.flatMap(value)) })
    }
    name = PageWords.shown(metric.metric.text)
    unit = PageWords.shown(metric.unit)
    self.scale = scale
    median = .init(differencesOf: metric.points.map { whole($0?.median) })
    below = .init(metric.points.map { whole($0.map { $0.median - $0.low }) })
    above = .init(metric.points.map { whole($0.map { $0.high - $0.median }) })
    verdict = TrendData.column(metric.points.map { $0?.judgement?.verdict })
    baseline = column(\.baseline)
    allowed = column(\.allowed)
    limit = column(\.limit)
    if case .runs(let count) = metric.creep?.span {
      creepStart = max(0, metric.points.count - 1 - count)
    } else {
      creepStart = nil
    }
  }

  private static func scale(of metric: MetricSeries) -> Double {
    let values = metric.points.lazy.compactMap(\.self).flatMap { [$0.median, $0.low, $0.high] }
    if values.allSatisfy({ $0.truncatingRemainder(dividingBy: 1024) == 0 }) { return 1024 }
    if metric.metric.isValue {
      // Seven digits of the largest value, which is more than a chart can show.
      let largest = values.lazy.map(\.magnitude).max() ?? 0
      return [1, 1e-3, 1e-6, 1e-9].first { scale in
        largest / scale >= 1e6 || values.allSatisfy { ($0 / scale).rounded() == $0 / scale }
      } ?? 1e-9
    }
    return metric.metric.isWholeBytes ? 1 : 0.1
  }
}
