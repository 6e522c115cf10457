import FoundationEssentials
import GateCore

/// The memory curves of a scenario: a static chart, the data for the interactive one, and a table.
struct RunPageCurves {
  let scenario: ScenarioResult

  /// For each of the other repetitions.
  private static let mostFaintPoints = 60
  private static let mostRows = 24
  /// A change by a smaller share of the whole is hardly seen on an axis from zero.
  private static let flat = 0.15

  /// The repetition that is shown in full: the failed one, or else the median one.
  static func shown(of scenario: ScenarioResult) -> Int? {
    scenario.failure == nil ? scenario.middleRepetition : scenario.repetitions.indices.last
  }

  /// A single repetition needs no number, and may be a failed warm-up, after which nothing was measured.
  private var isRepeated: Bool { scenario.repetitions.count > 1 }

  private var baseline: MemorySeries? { scenario.reference?.curve }

  private var shown: (index: Int, curve: MemoryCurve)? {
    Self.shown(of: scenario).flatMap { index in scenario.repetitions[index].curve.map { (index, $0) } }
  }

  /// The values for the page's template; nil without a curve.
  func values(index: Int) -> [String: Any]? {
    guard let shown else { return nil }
    var values: [String: Any] = [
      "index": index,
      "which": shown.index + 1,
      "picture": picture(of: shown.curve, named: isRepeated ? ", repetition \(shown.index + 1)" : ""),
      "summary": summary(of: shown.curve),
      "legend": legend(of: shown.curve),
      "table": HTMLTable(table: table(of: shown.curve)).text,
    ]
    if isRepeated { values["count"] = scenario.repetitions.count }
    return values
  }

  // MARK: The static picture

  private var others: [MemoryCurve] {
    scenario.repetitions.indices.filter { $0 != shown?.index }.compactMap { scenario.repetitions[$0].curve }
  }

  private func picture(of curve: MemoryCurve, named name: String) -> String {
    let series = [curve.main, curve.tree, baseline].compactMap(\.self) + others.map(\.main)
    let points = series.flatMap(\.points)
    let length = points.map(\.time).reduce(curve.end, max)
    let height = points.map(\.high).reduce(curve.peak?.height ?? .zero, max)
    var layers = phases(of: curve)
    if let steady = curve.steady { layers.append(.span(seconds(steady.from)...seconds(steady.to), ink: .orange)) }
    layers += others.map { .line(line($0.main.downsampled(to: Self.mostFaintPoints)), ink: .quiet, weight: .faint) }
    if let baseline = baseline { layers.append(.line(line(baseline), ink: .green, weight: .dashed)) }
    if let tree = curve.tree { layers.append(.line(line(tree), ink: .purple)) }
    let band = curve.main.points.map { SVGChart.Range(x: seconds($0.time), low: bytes($0.low), high: bytes($0.high)) }
    layers += [.band(band, ink: .blue), .line(line(curve.main), ink: .blue, weight: .strong)]
    if let steady = curve.steady {
      let ends = [(steady.from, steady.first), (steady.to, steady.last)]
      layers.append(.line(ends.map { .init(x: seconds($0), y: bytes($1)) }, ink: .orange, weight: .dashed))
    }
    layers += curve.marks.map { .mark(seconds($0.time), label: $0.name, ink: .purple) }
    if let peak = curve.peak {
      layers.append(.points([.init(x: peak.instant, y: bytes(peak.height))], shape: .diamond, ink: .red))
    }
    return SVGChart(
      title: "Resident memory over time\(name)", summary: summary(of: curve), across: .time(seconds(length)),
      up: .amounts((fittedBottom ?? 0)...max(1.1 * bytes(height), 4096)), layers: layers, width: 880, height: 260
    ).text
  }

  /// Where the vertical axis starts so that a change is seen which would be flat on one from zero, such as a leak of a
  /// hundredth; nil for an axis from zero.
  private var fittedBottom: Double? {
    guard scenario.verdict == .regression || scenario.verdict == .improved, let steady = shown?.curve.steady else {
      return nil
    }
    let judged = MetricName.headlines.compactMap { scenario.summary[$0] }
    let medians = judged.flatMap { [$0.baseline?.median, $0.current?.median].compactMap(\.self) }
    let levels = [bytes(steady.first), bytes(steady.last)] + medians
    guard let low = levels.min(), let high = levels.max(), high - low < high * Self.flat else { return nil }
    return max(0, low - max(high - low, high / 100))
  }

  private func phases(of curve: MemoryCurve) -> [SVGChart.Layer] {
    zip(curve.phases, curve.phases.dropFirst().map(\.time) + [curve.end]).map { phase, end in
      .span(seconds(phase.time)...max(seconds(phase.time), seconds(end)), label: phase.name)
    }
  }

  private func line(_ series: MemorySeries) -> [SVGChart.Point?] {
    series.points.map { .init(x: seconds($0.time), y: bytes($0.high)) }
  }

  private func seconds(_ time: Duration) -> Double { time.inSeconds }
  private func bytes(_ amount: Bytes) -> Double { Double(amount.count) }

  /// A text description of the chart.
  private func summary(of curve: MemoryCurve) -> String {
    let peak = curve.peak.map {
      "The peak, \(Format.amount($0.height)), came \(timeText(after: $0.after, before: $0.before))"
    }
    let steady = curve.steady.map { steady in
      "the steady state from \(Format.instant(steady.from)) to \(Format.instant(steady.to)) went from "
        + "\(Format.amount(steady.first)) to \(Format.amount(steady.last))"
    }
    return [peak, steady].compactMap(\.self).joined(separator: "; ")
  }

  // MARK: Legend and table

  /// The meaning of each line and mark in the chart.
  private func legend(of curve: MemoryCurve) -> String {
    let repetition = isRepeated ? "this repetition, with the range of its readings" : "VmRSS"
    let method = scenario.repetitions.first?.treeMethod ?? .upperBound
    let keys: [(isThere: Bool, sign: String, text: String)] = [
      (true, "<path class=\"blue strong\" d=\"M1 6h26\"/>", repetition),
      (!others.isEmpty, "<path class=\"quiet faint\" d=\"M1 6h26\"/>", "the other repetitions"),
      (
        baseline != nil, "<path class=\"green dashed\" d=\"M1 6h26\"/>",
        scenario.comparedBuild == nil ? "the baseline" : scenario.sides.before
      ),
      (
        curve.tree != nil, "<path class=\"purple plain\" d=\"M1 6h26\"/>",
        "the whole process tree: \(method.displayText)"
      ),
      (curve.steady != nil, "<path class=\"orange dashed\" d=\"M1 6h26\"/>", "steady state, with its growth"),
      (curve.peak != nil, "<path class=\"red fill\" d=\"M14 1l5 5l-5 5l-5-5z\"/>", "peak"),
    ]
    let iterations =
      curve.iterations > 0 ? "<span class=\"key\">\(Format.count(curve.iterations, "iteration"))</span>" : ""
    return keys.filter(\.isThere).map { key in
      """
      <span class="key"><svg class="chart" viewBox="0 0 28 12" aria-hidden="true">\(key.sign)</svg>\
      \(SVGText.safe(key.text))</span>
      """
    }.joined() + iterations
  }

  private func table(of curve: MemoryCurve) -> Table {
    let rows = curve.main.downsampled(to: Self.mostRows).points.map { point in
      let phase = curve.phases.last { $0.time <= point.time && point.time <= curve.end }?.name ?? ""
      let (low, high) = (Format.amount(point.low), Format.amount(point.high))
      return [
        Table.Cell(Format.instant(point.time)), Table.Cell(low == high ? high : "\(low) to \(high)"),
        Table.Cell(TerminalText.safe(phase)),
      ]
    }
    let marks = curve.marks.map { mark in
      [Table.Cell(Format.instant(mark.time)), "", Table.Cell("mark \(TerminalText.safe(mark.name))")]
    }
    return Table(
      columns: [.init(title: "time"), .init(title: "resident memory"), .init(title: "phase", side: .left)],
      rows: rows + marks
    )
  }
}

extension MemoryCurve.Peak {
  /// The middle of the peak's time range, in seconds.
  fileprivate var instant: Double { (after + before).inSeconds / 2 }
}

// MARK: - For the script

extension RunPageCurves {
  /// The curves as JSON for `run.js`.
  var data: String {
    let curves = CurvesJSON(
      shown: shown?.index ?? -1,
      repetitions: scenario.repetitions.map { repetition in
        NullIfNil(repetition.curve.map { CurveJSON($0, peak: repetition.metrics[.peakRSS]) })
      },
      baseline: baseline?.json, side: scenario.sides.before, bottom: fittedBottom.map { Int($0 / 1024) })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(curves) else { preconditionFailure("texts and whole numbers always encode") }
    return String(decoding: data, as: UTF8.self)
  }
}

private struct CurvesJSON: Encodable {
  var shown: Int
  var repetitions: [NullIfNil<CurveJSON>]
  var baseline: String?
  /// What `baseline` is.
  var side: String
  /// Where the vertical axis starts unless it starts at zero.
  var bottom: Int?
}

/// Times are in tenths of a millisecond, amounts in KiB.
private struct CurveJSON: Encodable {
  struct Instant: Encodable {
    var time: Int64
    var name: String
  }

  var main: String
  var tree: String?
  var end: Int64
  var phases: [Instant]
  var marks: [Instant]
  /// Time and amount.
  var peak: [Int64]?
  /// Time and amount of the start and of the end.
  var steady: [Int64]?
  var label: String

  init(_ curve: MemoryCurve, peak: Double?) {
    func instants(_ instants: [MemoryCurve.Instant]) -> [Instant] {
      instants.map { Instant(time: $0.time.ticks, name: TerminalText.safe($0.name)) }
    }
    main = curve.main.json
    tree = curve.tree?.json
    end = curve.end.ticks
    phases = instants(curve.phases)
    marks = instants(curve.marks)
    self.peak = curve.peak.map { [Int64($0.instant * 10_000), $0.height.count / 1024] }
    steady = curve.steady.map { [$0.from.ticks, $0.first.count / 1024, $0.to.ticks, $0.last.count / 1024] }
    label = peak.map { Format.amount(Bytes(clampedFrom: $0)) } ?? ""
  }
}

extension MemorySeries {
  /// The points as `TIME,HIGH`, or `TIME,HIGH,RANGE` if the lowest amount differs from the highest.
  fileprivate var json: String {
    points.map { point in
      let (low, high) = (point.low.count / 1024, point.high.count / 1024)
      return low == high ? "\(point.time.ticks),\(high)" : "\(point.time.ticks),\(high),\(high - low)"
    }.joined(separator: " ")
  }
}

extension Duration {
  fileprivate var ticks: Int64 { nanoseconds / MemorySeries.tick.nanoseconds }
}
