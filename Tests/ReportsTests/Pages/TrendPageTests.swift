import Foundation
@testable import GateApplication
@testable import GateCore
import Testing

@Suite("The trend page")
struct TrendPageTests {
  /// Three runs of one scenario: a baseline, an unexplained rise and a failure.
  private static var small: Trend {
    let hour = 3600.0
    let runs = (0..<3).map { index in
      RunInfo(
        id: "0198c0de-0000-7000-8000-00000000000\(index)",
        startedAt: Date(timeIntervalSince1970: 1_767_323_045 + Double(index) * hour),
        commit: "4f2a91c0d6e8b7a\(index)", subject: "Change \(index)", branch: "main",
        buildURL: "https://ci.example/builds/\(index)")
    }
    func point(_ median: Double, _ verdict: Verdict) -> MetricSeries.Point {
      .init(
        median: median, low: median - 4096, high: median + 8192,
        judgement: .init(verdict: verdict, baseline: 1_048_576, allowed: 524_288))
    }
    let approval = Approval(
      at: runs[0].startedAt, by: "Ada <ada@example.org>", commit: runs[0].commit, reason: "first & best",
      run: runs[0].id)
    var trend = Trend(
      createdAt: Date(timeIntervalSince1970: 1_767_400_000),
      links: BuildLinks(commit: "https://git.example/commit/{commit}"), runs: runs, runCount: 3,
      series: [
        ScenarioSeries(
          name: ScenarioName("load"), tags: ["server"], environment: "linux-x86_64-2cpu-traced", branch: "main",
          runCount: 3,
          runs: [
            .init(index: 0, verdict: .pass), .init(index: 1, verdict: .pass),
            .init(index: 2, verdict: .failed, failedRepetitions: [.init(number: 1, end: End(.oom, oomKills: 1))]),
          ],
          metrics: [
            MetricSeries(
              metric: .peakRSS, unit: "bytes", points: [point(1_048_576, .pass), point(1_310_720, .pass), nil],
              shifts: [.init(index: 1, before: 1_048_576, after: 1_310_720, chance: 0.004, persists: true)]),
            MetricSeries(
              metric: .growth, unit: "bytes/second",
              points: [.init(median: 0.25, low: -1.5, high: 2), nil, .init(median: 3, low: 3, high: 3)]),
          ],
          approvals: [.init(index: 0, approval: approval)])
      ])
    trend.findEvents()
    return trend
  }

  /// The page's body, without scripts and data.
  private static func markup(of page: String) throws -> String {
    let start = try #require(page.range(of: "<body>")).upperBound
    let end = try #require(page.range(of: "<script")).lowerBound
    return String(page[start..<end])
  }

  private static func data(of page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: "id=\"data\">")).upperBound
    let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
    return try #require(JSONSerialization.jsonObject(with: Data(page[start..<end].utf8)) as? [String: Any])
  }

  /// The numbers of an array or a string, with nil for `null` or `-`; `7*3` is `7 7 7`.
  private static func column(_ value: Any?) -> [Int?] {
    if let array = value as? [Any] { return array.map { $0 as? Int } }
    return (value as? String ?? "").split(separator: " ").flatMap { word in
      let parts = word.split(separator: "*")
      return [Int?](repeating: Int(parts[0]), count: parts.count > 1 ? Int(parts[1]) ?? 0 : 1)
    }
  }

  @Test("The markup of a small page matches the golden file")
  func golden() throws {
    try Golden.expect(try Self.markup(of: TrendPage.text(Self.small)), "trend.html")
  }

  @Test("A commit with uncommitted changes is marked, and the data say so")
  func dirty() throws {
    var trend = Self.small
    trend.runs[1].isDirty = true
    let page = TrendPage.text(trend)
    let markup = try Self.markup(of: page)
    #expect(markup.contains("4f2a91c0d-dirty") && markup.contains("<code>4f2a91c0d</code>"))
    let runs = try #require(try Self.data(of: page)["runs"] as? [String: Any])
    #expect(runs["dirty"] as? [String: [Int]] == ["counts": [1, 1, 1], "values": [0, 1, 0]])
  }

  @Test("The data are columns of whole numbers, scaled per metric")
  func columns() throws {
    let data = try Self.data(of: TrendPage.text(Self.small))
    let series = try #require((data["series"] as? [[String: Any]])?.first)
    let metrics = try #require(series["metrics"] as? [[String: Any]])
    #expect(metrics[0]["scale"] as? Double == 1024)
    #expect(Self.column(metrics[0]["median"]) == [1024, 256, nil])
    #expect(Self.column(metrics[0]["below"]) == [4, 4, nil])
    #expect(Self.column(metrics[0]["above"]) == [8, 8, nil])
    let baseline = try #require(metrics[0]["baseline"] as? [String: Any])
    #expect(Self.column(baseline["counts"]) == [2, 1] && Self.column(baseline["values"]) == [1024, nil])
    #expect(metrics[1]["scale"] as? Double == 0.1)
    #expect(Self.column(metrics[1]["median"]) == [3, nil, 27])
    #expect(series["verdict"] as? String == "0*2 3")
    let runs = try #require(data["runs"] as? [String: Any])
    #expect(Self.column(runs["time"]) == [1_767_323_045, 3600, 3600])
    #expect(runs["id"] as? [String] == ["000000000000", "000000000001", "000000000002"])
  }

  /// Decodes the medians from the page's data, as `trend-view.js` does.
  private static func medians(_ metric: [String: Any]) throws -> [Double?] {
    let unit = try #require(metric["scale"] as? Double)
    var sum = 0
    return column(metric["median"]).map { difference in
      guard let difference else { return nil }
      sum += difference
      return Double(sum) * unit
    }
  }

  @Test(
    "Reported values keep their unit and seven digits",
    arguments: [
      ("items", [1250, 1251, 1249]), ("items", [2048, 1024]), ("hits/call", [0.625, 0.25, 0.123456]),
      ("seconds", [0.012_345_67, 0.012_345_68, 0.012_3]), ("seconds", [0.000_001_234, 0.000_001_235]),
      ("EUR", [-3.5, 0, 1e-3]), ("items", [1_152_921_504_606_846_976, 12]), ("seconds", [604_799.75, 86_400.125]),
      ("rate", [12_345.678, 0.5]), ("rate", [123_456.789, 0.5]),
    ] as [(String, [Double])])
  func reportedValues(unit: String, values: [Double]) throws {
    var trend = Self.small
    let points = values.map { value in
      MetricSeries.Point(
        median: value, low: value, high: value,
        judgement: .init(verdict: .pass, baseline: value, allowed: value.magnitude, limit: value.magnitude))
    }
    let missing = [MetricSeries.Point?](repeating: nil, count: 3 - points.count)
    trend.series[0].metrics[0] = MetricSeries(metric: .value("x"), unit: unit, points: points + missing)
    let series = try #require((try Self.data(of: TrendPage.text(trend))["series"] as? [[String: Any]])?.first)
    let metric = try #require((series["metrics"] as? [[String: Any]])?.first)
    #expect(metric["name"] as? String == "value.x" && metric["unit"] as? String == unit)
    let largest = values.map(\.magnitude).max() ?? 0
    // The smallest step is a nanosecond.
    let step = max(largest / 1e6, 1e-9)
    for (read, value) in zip(try Self.medians(metric), values) {
      #expect(abs((read ?? .nan) - value) <= step / 2 * 1.000001, "\(value)")
    }
    let limits = Self.column((metric["limit"] as? [String: Any])?["values"])
    let scale = try #require(metric["scale"] as? Double)
    #expect(abs(Double((limits.first ?? nil) ?? 0) * scale - values[0].magnitude) <= step)
  }

  @Test("Hostile names and units are plain text in the data and on the page")
  func hostileNames() throws {
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}"
    var trend = Self.small
    trend.series[0].metrics[0].unit = hostile
    trend.series[0].metrics[0].metric = .value(hostile)
    let page = TrendPage.text(trend)
    #expect(!page.contains("<img") && !page.contains("\u{202e}"))
    #expect(page.components(separatedBy: "</script").count == page.components(separatedBy: "<script").count)
    _ = try Self.data(of: page)
  }

  @Test(
    "Only a web address becomes a link", arguments: ["javascript:alert(1)", "ftp://x/", "https://x y/", "\u{202e}", ""])
  func links(address: String) throws {
    var trend = Self.small
    trend.links.commit = address
    trend.runs[0].buildURL = address
    let page = TrendPage.text(trend)
    #expect(try Self.data(of: page)["commitURL"] == nil)
    #expect(try !Self.markup(of: page).contains("_blank"))
  }

  @Test("Non-finite and huge values are left out")
  func extremes() throws {
    var trend = Self.small
    trend.series[0].metrics[0].points[1] = .init(median: .infinity, low: -.greatestFiniteMagnitude, high: .nan)
    trend.series[0].metrics[1].points[0] = .init(median: 1e300, low: -1e300, high: 1e300)
    _ = try Self.data(of: TrendPage.text(trend))
  }

  @Test("Numbers in names sort by size")
  func naturalOrder() {
    let names = ["load", "load-1", "load-2", "load-09", "load-10", "loads", "map[2,9]", "map[2,10]", "map[12,1]"]
    #expect(names.shuffled().sorted { PageWords.naturalKey($0) < PageWords.naturalKey($1) } == names)
  }

  @Test("Long names break at separators only, and stay text")
  func breakable() {
    #expect(PageWords.breakable("load-10/run_2.x-") == "load-10/<wbr>run_2.<wbr>x-")
    #expect(PageWords.breakable("a/b_c.d-e:f g<i>") == "a/<wbr>b_<wbr>c.<wbr>d-<wbr>e:<wbr>f g&lt;i&gt;")
  }

  @Test("Runs of another tool offer no bisection: the project lacks their scenarios")
  func importedRuns() {
    var trend = Self.small
    #expect(trend.events.first?.bisectCommand != nil)
    trend.series[0].environment = "asv-machine-py3.12"
    trend.findEvents()
    #expect(trend.events.first?.logCommand != nil && trend.events.first?.bisectCommand == nil)
  }

  @Test("Columns without a value are left out")
  func emptyColumns() throws {
    let markup = try Self.markup(of: TrendPage.text(Self.small))
    #expect(markup.contains("data-sort=\"peakChange\"") && !markup.contains("data-sort=\"steady"))
  }

  @Test("An empty history shows how to add runs")
  func empty() throws {
    let page = TrendPage.text(Trend(createdAt: Date(timeIntervalSince1970: 0), runs: [], runCount: 0, series: []))
    #expect(try Self.markup(of: page).contains("The history has no runs yet"))
  }

  @Test("The page says how many older runs are not shown, and how to see them")
  func olderRuns() throws {
    var trend = Self.small
    #expect(try !Self.markup(of: TrendPage.text(trend)).contains("--limit"))
    (trend.runCount, trend.olderRuns) = (1203, 1200)
    let markup = try Self.markup(of: TrendPage.text(trend))
    #expect(markup.contains("the latest 3 of 1203\u{a0}runs, on 2026-01-02"))
    #expect(markup.contains("1200\u{a0}older runs not shown; <code>highwater trend --limit N</code>"))
  }

  @Test("The page without data and charts takes less than 300 KB, and a value less than 16 bytes")
  func size() throws {
    var trend = Self.small
    let empty = TrendPage.text(Trend(createdAt: trend.createdAt, runs: [], runCount: 0, series: []))
    #expect(empty.utf8.count < 300_000)
    let count = 2000
    trend.runs = (0..<count).map { index in
      var run = trend.runs[index % 3]
      run.startedAt += Double(index) * 3600
      return run
    }
    trend.series[0].runs = (0..<count).map { .init(index: $0, verdict: .pass) }
    let point = trend.series[0].metrics[0].points[0]
    let metric = MetricSeries(
      metric: .peakRSS, unit: "bytes",
      points: (0..<count).map { index in
        point.map { known in
          var moved = known
          moved.median += Double(index * 37 % 64) * 4096
          moved.low = moved.median - Double(index * 11 % 32) * 4096
          moved.high = moved.median + Double(index * 7 % 32) * 4096
          return moved
        }
      })
    trend.series[0].metrics = [metric]
    let one = TrendPage.text(trend).utf8.count
    trend.series[0].metrics = [metric, metric, metric]
    let three = TrendPage.text(trend).utf8.count
    #expect((three - one) / 2 / count < 16)
  }

  @Test(
    "The state of a series",
    arguments: [
      (Verdict.regression, TrendState.regression), (.failed, .failed), (.pass, .unexplainedRise),
      (.inconclusive, .unexplainedRise),
      (.noBaseline, .unexplainedRise),
    ]
  )
  func states(latest: Verdict, state: TrendState) {
    var series = Self.small.series[0]
    series.runs[2].verdict = latest
    #expect(TrendState(of: series) == state)
  }
}
