import GateCore
import Testing

@testable import GateApplication

@Suite("Static charts")
struct SVGChartTests {
  /// A server that fills up and then idles, with one of everything that a chart can show.
  private static let rich = SVGChart(
    title: "redis-load <fill>",
    summary: "Rises from 5 MiB to 24 MiB in 1.2 s & stays there.",
    across: .time(2.4),
    up: .amounts(0...25_165_824),
    layers: [
      .span(0.1...1.3, label: "load"),
      .span(1.3...2.4, label: "idle </text>"),
      .span(2.39...2.4, label: "too narrow for its name"),
      .band([.init(x: 0, low: 4e6, high: 6e6), .init(x: 1.2, low: 20e6, high: 25e6)], ink: .sky),
      .line([.init(x: 0, y: 5e6), .init(x: 1.2, y: 24e6), nil, .init(x: 2, y: 24e6)], ink: .blue, weight: .strong),
      .steps([.init(x: 0, y: 4e6), .init(x: 1, y: 22e6), .init(x: 2.4, y: 22e6)], ink: .orange),
      .mark(1.2, label: "filled", ink: .purple),
      .mark(1.25, label: "flushed", ink: .purple),
      .points([.init(x: 1.2, y: 24e6)], shape: .diamond, ink: .red),
      .points([.init(x: 0.5, y: 12e6)], shape: .cross, ink: .text),
      .points([.init(x: 0.7, y: 0)], shape: .circle, ink: .quiet),
    ]
  )

  @Test("A chart has axes, series, spans, bands, marks and points")
  func golden() throws {
    try Golden.expect(Self.rich.text + "\n", "chart.svg")
    try Golden.expect(
      SVGChart.sparkline([3e6, 3.1e6, nil, 3.1e6, 4.6e6], marked: [4], title: "peak, 5 runs") + "\n", "sparkline.svg")
  }

  @Test("A series of 120 points takes about a kilobyte")
  func size() {
    let points = (0..<120).map { SVGChart.Point(x: Double($0) / 50, y: 2e7 + Double($0 * 7919 % 101) * 1e4) }
    let up = SVGAxis.amounts(0...25e6)
    let empty = SVGChart(title: "", summary: "", across: .time(2.4), up: up, layers: [])
    var full = empty
    full.layers = [.line(points, ink: .blue)]
    #expect(full.text.utf8.count - empty.text.utf8.count < 1200)
  }

  @Test("All coordinates stay within the picture, whatever the values")
  func hostileValues() {
    let wild: [Double] = [-.infinity, -1e300, 0, 1e300, .infinity, .nan]
    var chart = SVGChart(title: "", summary: "", across: .time(0), up: .amounts(0...0), layers: [])
    chart.layers = wild.flatMap { value -> [SVGChart.Layer] in
      [.line([.init(x: value, y: value), .init(x: 1, y: value)], ink: .blue), .mark(value, label: "m")]
    }
    let text = chart.text
    #expect(!text.contains("nan") && !text.contains("inf"))
    #expect(text.utf8.count < 4000)
  }

  @Test(
    "Sizes have round steps in the unit of the largest",
    arguments: [
      (0.0, 24_207_360.0, ["0", "5 MiB", "10 MiB", "15 MiB", "20 MiB", "25 MiB"]),
      (0.0, 900.0 * 1024, ["0", "200 KiB", "400 KiB", "600 KiB", "800 KiB", "1000 KiB"]),
      (
        23_000_000.0, 24_000_000.0,
        ["21.8 MiB", "22.0 MiB", "22.2 MiB", "22.4 MiB", "22.6 MiB", "22.8 MiB", "23.0 MiB"]
      ),
      (-2048.0, 4096.0, ["-2 KiB", "0", "2 KiB", "4 KiB"]),
      (0.0, 1.5e9, ["0", "0.5 GiB", "1.0 GiB", "1.5 GiB"]),
    ]
  )
  func amounts(low: Double, high: Double, labels: [String]) {
    let axis = SVGAxis.amounts(low...high)
    #expect(axis.ticks.map { String($0.label.map { $0 == Format.space ? " " : $0 }) } == labels)
    #expect(axis.range.lowerBound <= low && axis.range.upperBound >= high)
    #expect(axis.ticks.allSatisfy { axis.range.contains($0.value) })
  }

  @Test(
    "Reported values have round steps in their unit, and short times are in milliseconds",
    arguments: [
      ("items", 1000.0, 1250.0, ["1000 items", "1050 items", "1100 items", "1150 items", "1200 items", "1250 items"]),
      ("hits/call", 0.2, 0.6, ["0.2 hits/call", "0.3 hits/call", "0.4 hits/call", "0.5 hits/call", "0.6 hits/call"]),
      ("", 0.0, 2.0, ["0", "0.5", "1.0", "1.5", "2.0"]),
      ("EUR", -3.5, 0.0, ["-4 EUR", "-3 EUR", "-2 EUR", "-1 EUR", "0"]),
      ("seconds", 0.0125, 0.0126, ["12.50 ms", "12.52 ms", "12.54 ms", "12.56 ms", "12.58 ms", "12.60 ms"]),
      ("seconds", 0.0, 0.000_02, ["0", "0.005 ms", "0.010 ms", "0.015 ms", "0.020 ms"]),
      ("seconds", 0.0, 90.0, ["0", "20 s", "40 s", "60 s", "80 s", "100 s"]),
      ("bytes/run", 0.0, 2048.0, ["0", "0.5 KiB/run", "1.0 KiB/run", "1.5 KiB/run", "2.0 KiB/run"]),
      ("bytes/iteration", 0.0, 2048.0, ["0", "0.5 KiB/iter", "1.0 KiB/iter", "1.5 KiB/iter", "2.0 KiB/iter"]),
      ("bytesets", 0.0, 4.0, ["0", "1 bytesets", "2 bytesets", "3 bytesets", "4 bytesets"]),
    ]
  )
  func reportedValues(unit: String, low: Double, high: Double, labels: [String]) {
    let axis = SVGAxis.amounts(low...high, unit: unit)
    #expect(axis.ticks.map { $0.label.replacing("\u{a0}", with: " ") } == labels)
    #expect(axis.range.lowerBound <= low && axis.range.upperBound >= high)
  }

  @Test(
    "An axis has two to twelve ticks, however small, large or equal the values",
    arguments: [
      (0.0, 0.0), (0, .leastNonzeroMagnitude), (1e-12, 3e-12), (1.15e18, 1.15e18), (-1.15e18, 1.15e18),
      (-1.15e18, -1.15e18),
      (0, 1.15e18), (1e9, 1e9 + 1),
    ] as [(Double, Double)],
    ["items", "seconds"]
  )
  func extremeValues(range: (Double, Double), unit: String) {
    let axis = SVGAxis.amounts(range.0...range.1, unit: unit)
    #expect((2...12).contains(axis.ticks.count))
    #expect(axis.range.lowerBound <= range.0 && axis.range.upperBound >= range.1)
    #expect(axis.range.lowerBound < axis.range.upperBound)
  }

  @Test(
    "A time axis has the unit that suits its length",
    arguments: [
      (0.05, "10 ms"), (0.9, "200 ms"), (2.4, "0.5 s"), (65.0, "10 s"), (600.0, "2 min"),
    ]
  )
  func times(length: Double, second: String) {
    let axis = SVGAxis.time(length)
    #expect(axis.ticks[1].label == second.replacing(" ", with: "\u{a0}"))
    #expect(axis.ticks.allSatisfy { $0.value <= length * 1.000001 })
  }

  @Test("Of many runs only some are labeled, and all are in range")
  func runs() {
    let axis = SVGAxis.runs((0..<100).map { "r\($0)" }, atMost: 6)
    #expect(axis.ticks.count <= 6)
    #expect(axis.ticks.allSatisfy { $0.label == "r\(Int($0.value))" })
    #expect(axis.range.contains(0) && axis.range.contains(99))
  }
}
