import FoundationEssentials
import GateCore

/// Runs taken together, so that a picture has no more places than the eye can tell apart.
///
/// No step and no peak is lost: a step begins a bin, and each bin keeps its extremes.
struct TrendBins {
  struct Bin {
    var range: Range<Int>
    /// The last run's median, at its place.
    var point: SVGChart.Point?
    var extremes: SVGChart.Range?
  }

  private(set) var bins: [Bin]

  /// A run that failed has figures of an unfinished program, and counts as a gap.
  init(_ metric: MetricCourse, of course: ScenarioCourse, atMost most: Int) {
    let stride = max(1, (metric.points.count + most - 1) / most)
    let regular = Set(Swift.stride(from: 0, to: metric.points.count, by: stride))
    let starts = regular.union(metric.steps.map(\.entry).filter(metric.points.indices.contains)).sorted()
    bins = zip(starts, starts.dropFirst() + [metric.points.count]).map { start, end in
      let known = (start..<end).filter { course.entries[$0].verdict != .failed }.compactMap { index in
        metric.points[index].map { (index: index, point: $0) }
      }
      guard let last = known.last, let low = known.map(\.point.low).min(), let high = known.map(\.point.high).max()
      else {
        return Bin(range: start..<end)
      }
      let x = Double(last.index)
      return Bin(
        range: start..<end, point: .init(x: x, y: last.point.median), extremes: .init(x: x, low: low, high: high))
    }
  }
}

/// The static pictures of a course.
struct TrendPicture {
  let trend: Trend
  let course: ScenarioCourse

  /// What SVGChart draws in 720 units of width.
  private static let mostBins = 120

  func text(of metric: MetricCourse) -> String {
    let bins = TrendBins(metric, of: course, atMost: Self.mostBins).bins
    let ranges = bins.compactMap(\.extremes)
    guard let low = ranges.map(\.low).min(), let high = ranges.map(\.high).max() else { return "<p>No values.</p>" }
    let baseline = stepped(metric.points.map { $0?.judgement?.baseline })
    let marked = [low, high] + baseline.compactMap { $0?.y }
    // Noise of a hundredth must not look like a mountain.
    let space = max(0, (marked.max() ?? high).magnitude / 20 - ((marked.max() ?? high) - (marked.min() ?? low))) / 2
    let values = (marked.min() ?? low) - space...(marked.max() ?? high) + space
    return SVGChart(
      title: "\(PageWords.shown(metric.metric.text)) of \(PageWords.shown(course.name.text))",
      summary: metric.kindText,
      across: .runs(labels, atMost: 6),
      up: .amounts(values, unit: metric.unit),
      layers: [
        .band(ranges, ink: .blue), .steps(baseline, ink: .green, weight: .dashed),
        .line(bins.map(\.point), ink: .blue),
      ] + marks(of: metric, floor: values.lowerBound)
    ).text
  }

  /// Kinds of memory, one on the other.
  var composition: String {
    let stride = max(1, (course.entries.count + Self.mostBins - 1) / Self.mostBins)
    let known = course.entries.indices.filter { $0.isMultiple(of: stride) && course.entries[$0].composition != nil }
    var floor = [Double](repeating: 0, count: known.count)
    var layers: [SVGChart.Layer] = []
    for part in CompositionPart.allCases {
      let top = zip(known, floor).map { index, below in
        below + Double(course.entries[index].composition.map { part.amount(in: $0).count } ?? 0)
      }
      let ranges = zip(known, zip(floor, top)).map { SVGChart.Range(x: Double($0), low: $1.0, high: $1.1) }
      layers += [.band(ranges, ink: part.ink), .line(ranges.map { .init(x: $0.x, y: $0.high) }, ink: part.ink)]
      floor = top
    }
    return SVGChart(
      title: "Composition of \(PageWords.shown(course.name.text))",
      summary: "From below: " + CompositionPart.allCases.map(\.rawValue).joined(separator: ", "),
      across: .runs(labels, atMost: 6), up: .amounts(0...max(1, floor.max() ?? 1)), layers: layers
    ).text
  }

  private var labels: [String] {
    course.entries.map { entry in
      let run = trend.runs.indices.contains(entry.run) ? trend.runs[entry.run] : nil
      return run.map { PageWords.shown(String(($0.commit ?? $0.startedAt.day).prefix(9))) } ?? ""
    }
  }

  /// The places where a level changes, and the last one.
  private func stepped(_ levels: [Double?]) -> [SVGChart.Point?] {
    levels.indices.filter { $0 == 0 || $0 == levels.count - 1 || levels[$0] != levels[$0 - 1] }.map { index in
      levels[index].map { .init(x: Double(index), y: $0) }
    }
  }

  private func marks(of metric: MetricCourse, floor: Double) -> [SVGChart.Layer] {
    let steps = metric.steps.map { step in
      SVGChart.Layer.mark(
        Double(step.entry) - 0.5, label: step.size(unit: metric.unit), ink: step.isOpen ? .red : .quiet)
    }
    let changes = course.environmentChanges.map { SVGChart.Layer.mark(Double($0.entry) - 0.5, ink: .quiet) }
    let approvals = course.approvals.compactMap { approved -> SVGChart.Point? in
      guard metric.points.indices.contains(approved.entry) else { return nil }
      return metric.points[approved.entry]?.judgement?.baseline.map { .init(x: Double(approved.entry), y: $0) }
    }
    let troubles = course.entries.indices.filter { !course.entries[$0].failedRepetitions.isEmpty }.map {
      SVGChart.Point(x: Double($0), y: floor)
    }
    return changes + steps + [
      .points(approvals, shape: .diamond, ink: .green), .points(troubles, shape: .cross, ink: .red),
    ]
  }
}
