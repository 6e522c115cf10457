import FoundationEssentials
import GateCore

/// The static charts of a series.
struct TrendPicture {
  let trend: Trend
  let series: ScenarioSeries

  /// The number of points that SVGChart draws in a width of 720 units.
  private static let mostBins = 120
  private static let mostBinsOfSparkline = 60
  private static let mostLabels = 6

  func sparkline(of metric: MetricSeries) -> String {
    let bins = bins(of: metric, atMost: Self.mostBinsOfSparkline)
    let marked = metric.shifts.filter(\.isUnexplainedRise).compactMap { shift in
      bins.firstIndex { $0.runs.contains(shift.index) }
    }
    let title = "\(title(of: metric)): \(metric.summary)"
    return SVGChart.sparkline(bins.map { $0.point?.y }, marked: marked, title: title)
  }

  func chart(of metric: MetricSeries) -> String {
    let bins = bins(of: metric, atMost: Self.mostBins)
    let ranges = bins.compactMap(\.extremes)
    guard let low = ranges.map(\.low).min(), let high = ranges.map(\.high).max() else { return "<p>No values.</p>" }
    let baseline = corners(of: metric.points.map { $0?.judgement?.baseline })
    let marked = [low, high] + baseline.compactMap { $0?.y }
    let (least, most) = (marked.min() ?? low, marked.max() ?? high)
    // The axis spans at least 2 %, as in the scripts, so that noise does not look like a change.
    let space = max(0, most.magnitude / 50 - (most - least)) / 2
    let values = least - space...most + space
    return SVGChart(
      title: title(of: metric),
      summary: metric.summary,
      across: .runs(labels, atMost: Self.mostLabels),
      up: .amounts(values, unit: metric.unit),
      layers: [
        .band(ranges, ink: .blue), .steps(baseline, ink: .green, weight: .dashed),
        .line(bins.map(\.point), ink: .blue),
      ] + marks(of: metric, bottom: values.lowerBound)
    ).text
  }

  /// The stacked parts of memory.
  var composition: String {
    let stride = max(1, (series.runs.count + Self.mostBins - 1) / Self.mostBins)
    let known = series.runs.indices.filter { $0.isMultiple(of: stride) && series.runs[$0].composition != nil }
    var bottom = [Double](repeating: 0, count: known.count)
    var layers: [SVGChart.Layer] = []
    for part in CompositionPart.allCases {
      let ranges = zip(known, bottom).map { index, low in
        let amount = series.runs[index].composition.map { part.amount(in: $0).count } ?? 0
        return SVGChart.Range(x: Double(index), low: low, high: low + Double(amount))
      }
      layers += [.band(ranges, ink: part.ink), .line(ranges.map { .init(x: $0.x, y: $0.high) }, ink: part.ink)]
      bottom = ranges.map(\.high)
    }
    return SVGChart(
      title: "Composition of \(PageWords.shown(series.name.text))",
      summary: "From below: " + CompositionPart.allCases.map(\.rawValue).joined(separator: ", "),
      across: .runs(labels, atMost: Self.mostLabels), up: .amounts(0...max(1, bottom.max() ?? 1)), layers: layers
    ).text
  }

  private func title(of metric: MetricSeries) -> String {
    "\(PageWords.shown(metric.metric.text)) of \(PageWords.shown(series.name.text))"
  }

  private var labels: [String] {
    series.runs.map { run in
      guard trend.runs.indices.contains(run.index) else { return "" }
      let info = trend.runs[run.index]
      return PageWords.shown(info.commitText() ?? info.startedAt.day)
    }
  }

  /// The points at which a level changes, and the last point.
  private func corners(of levels: [Double?]) -> [SVGChart.Point?] {
    levels.indices.filter { $0 == 0 || $0 == levels.count - 1 || levels[$0] != levels[$0 - 1] }.map { index in
      levels[index].map { .init(x: Double(index), y: $0) }
    }
  }

  private func marks(of metric: MetricSeries, bottom: Double) -> [SVGChart.Layer] {
    let shifts = metric.shifts.map { shift in
      let label = shift.sizeText(unit: metric.unit)
      return SVGChart.Layer.mark(
        Double(shift.index) - 0.5, label: label, ink: shift.isUnexplainedRise ? .red : .quiet)
    }
    let changes = series.environmentChanges.map { SVGChart.Layer.mark(Double($0.index) - 0.5, ink: .quiet) }
    let approvals = series.approvals.compactMap { approved -> SVGChart.Point? in
      guard metric.points.indices.contains(approved.index) else { return nil }
      return metric.points[approved.index]?.judgement?.baseline.map { .init(x: Double(approved.index), y: $0) }
    }
    let failures = series.runs.indices.filter { !series.runs[$0].failedRepetitions.isEmpty }.map {
      SVGChart.Point(x: Double($0), y: bottom)
    }
    let setAside = series.runs.indices.filter { series.runs[$0].isSetAside }.map {
      SVGChart.Point(x: Double($0), y: bottom)
    }
    return changes + shifts + [
      .points(setAside, shape: .circle, ink: .quiet), .points(approvals, shape: .diamond, ink: .green),
      .points(failures, shape: .cross, ink: .red),
    ]
  }
}

// MARK: - Bins

extension TrendPicture {
  /// Neighbouring runs that are drawn as one point.
  private struct Bin {
    var runs: Range<Int>
    /// The last run's median.
    var point: SVGChart.Point?
    var extremes: SVGChart.Range?
  }

  /// At most this many bins, plus one for each level shift, which begins a bin.
  ///
  /// A bin has the extremes of its runs, so that no peak is lost. Failed runs are gaps. What was set aside, as most scenarios
  /// were outliers, would flatten what is this one's own.
  private func bins(of metric: MetricSeries, atMost most: Int) -> [Bin] {
    let count = metric.points.count
    let regular = Set(stride(from: 0, to: count, by: max(1, (count + most - 1) / most)))
    let starts = regular.union(metric.shifts.map(\.index).filter(metric.points.indices.contains)).sorted()
    return zip(starts, starts.dropFirst() + [count]).compactMap { start, end in
      let counted = (start..<end).filter { !series.runs[$0].isSetAside }
      guard !counted.isEmpty else { return nil }
      let known = counted.filter { series.runs[$0].verdict != .failed }.compactMap { index in
        metric.points[index].map { (x: Double(index), point: $0) }
      }
      guard let last = known.last, let low = known.map(\.point.low).min(), let high = known.map(\.point.high).max()
      else { return Bin(runs: start..<end) }
      return Bin(
        runs: start..<end, point: .init(x: last.x, y: last.point.median),
        extremes: .init(x: last.x, low: low, high: high))
    }
  }
}

extension MetricSeries {
  /// As in `first 23.1 MiB, last 24.0 MiB, highest 26.2 MiB`.
  fileprivate var summary: String {
    let known = points.compactMap(\.self)
    guard let first = known.first, let last = known.last, let most = known.map(\.high).max() else { return "no values" }
    let values = [first.median, last.median, most].map { Format.amount($0, unit: unit) }
    return "first \(values[0]), last \(values[1]), highest \(values[2])"
  }
}
