import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Reported values in the reports")
struct ReportedValueTests {
  private func summary(
    _ scenario: ScenarioResult,
    _ exitCode: ExitCode = .regression,
    detail: SummaryContext.Detail = .normal,
    style: TerminalStyle = TerminalStyle(width: 200)
  ) -> String {
    SummaryReport.text(
      Fixture.result([scenario]), style: style, context: SummaryContext(detail: detail, exitCode: exitCode))
  }

  @Test(
    "A sentence gives a rise or the excess over a limit in the value's unit",
    arguments: [
      "value.cache.entries rose by 250 items (+25.0 %); 30 items are allowed (3 %, at least 10)",
      "value.cache.size is 80.0 MiB, 16.0 MiB above its limit of 64.0 MiB",
      "value.hit-share is 0.625 hits/call, 0.125 hits/call above its limit of 0.5 hits/call",
      "value.balance fell by 1.5 EUR, more than its tolerance of 0.06 EUR",
    ])
  func sentences(sentence: String) {
    #expect(summary(Fixture.reporting).replacing("\u{a0}", with: " ").contains("  • \(sentence)\n"))
  }

  @Test("A value whose unit changed is inconclusive, with a hint to approve again")
  func changedUnit() {
    let reason = "value.cache.entries is in bytes in the baseline, and in items now; approve again"
    #expect(summary(Fixture.changedUnit, .inconclusive).contains(reason))
  }

  @Test("A loop is the failure, with its type, name and count, however the program ended")
  func loop() throws {
    let words =
      "the target reported a loop: `Layout.pass` was called 6000 times in one turn, and in 2 more"
    for detail in SummaryContext.Detail.allCases {
      #expect(summary(Fixture.looping, .failed, detail: detail).contains("repetition 1 of 10: \(words)"))
    }
    #expect(summary(Fixture.looping, .failed).hasSuffix("1 of 1 scenario failed\nhighwater: failed\n"))
    for format in Webhook.Format.allCases {
      let bytes = NotificationBody.bytes(
        Fixture.result([Fixture.looping]), states: [:], format: format, links: (build: nil, report: nil),
        exitCode: .failed)
      #expect(String(decoding: bytes, as: UTF8.self).contains("6000 times in one turn"), "\(format)")
    }
  }

  @Test("The webhook's JSON has fractions, limits and units as reported")
  func notification() throws {
    let bytes = NotificationBody.bytes(
      Fixture.result([Fixture.reporting]), states: [:], format: .json, links: (build: nil, report: nil),
      exitCode: .regression)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let scenario = try #require((object["scenarios"] as? [[String: Any]])?.first)
    let metrics = try #require(scenario["metrics"] as? [[String: Any]])
    #expect(
      metrics.map { "\($0["name"] ?? "") \($0["unit"] ?? "")" } == [
        "value.cache.entries items", "value.cache.size bytes", "value.hit-share hits/call", "value.balance EUR",
      ])
    func number(_ index: Int, _ key: String, _ part: String) -> Double? {
      (metrics[index][key] as? [String: Any])?[part] as? Double
    }
    #expect(number(0, "tolerance", "absolute") == 10 && number(0, "tolerance", "percent") == 3)
    #expect(number(1, "tolerance", "limit") == 67_108_864)
    #expect(number(2, "tolerance", "limit") == 0.5 && number(2, "current", "median") == 0.625)
    #expect(number(3, "change", "absolute") == -1.5 && number(3, "baseline", "median") == -2)
  }

  @Test("The verbose summary, a record and the page list events with the number of repetitions")
  func events() {
    let launch =
      "the target reported why it was started: out-of-memory.active.cgroup-counter, 1 of 5 repetitions"
    let failures = "the target reported that the 3 launches before failed while starting, 1 of 5 repetitions"
    let record = RecordReport.text(Fixture.reporting, recording: nil, style: TerminalStyle(width: 200))
    for text in [summary(Fixture.reporting, detail: .verbose), record] {
      #expect(text.contains("  event: \(launch)\n") && text.contains("  event: \(failures)\n"))
    }
    #expect(!summary(Fixture.reporting).contains("event: "))
    let page = RunPage.text(Fixture.result([Fixture.reporting]), context: SummaryContext(exitCode: .regression))
    #expect(page.contains("<h3>What the target reported</h3>\n<p>\(launch)</p>\n<p>\(failures)</p>\n"))
    let silent = RunPage.text(Fixture.result([Fixture.passing("a")]), context: SummaryContext(exitCode: .pass))
    #expect(!silent.contains("What the target reported"))
    // No count if the event is in all repetitions.
    var scenario = Fixture.reporting
    for index in scenario.repetitions.indices { scenario.repetitions[index].events = [Fixture.events[1]] }
    #expect(summary(scenario, detail: .verbose).contains("failed while starting\n"))
  }

  @Test("A repetition's row has judged and ungated values, each in its unit")
  func repetitions() {
    let text = summary(Fixture.reporting, detail: .verbose).replacing("\u{a0}", with: " ")
    let row = text.split(separator: "\n").first { $0.contains("  1248 items") }.map(String.init) ?? ""
    for figure in ["1248 items", "80.0 MiB", "0.625 hits/call", "12.58 ms", "-3.5 EUR", "0.02 ms"] {
      #expect(row.contains(figure), "\(figure) in: \(row)")
    }
  }

  @Test("An approval lists values in their units, including new values")
  func approval() {
    var change = ApprovalChange(
      scenario: ScenarioName("cache"), environment: "linux", path: "baselines/cache/linux.json", outcome: .replaced,
      before: [.peakRSS: 4_194_304, .value("cache.entries"): 1000, .value("queue.wait"): 0.5, .value("saldo"): -2],
      after: [.peakRSS: 4_194_304, .value("cache.entries"): 1250.5, .value("hits"): 0.25, .value("saldo"): -3.5])
    change.units = [.value("cache.entries"): "items", .value("queue.wait"): "seconds", .value("hits"): "hits/call"]
    change.units[.value("saldo")] = "EUR"
    let text = ApprovalReport.text([change], style: TerminalStyle(width: 120)).replacing("\u{a0}", with: " ")
      .replacing(/\ +/, with: " ")
    for line in [
      "value.cache.entries 1000 items → 1250.5 items +250.5 items +25.1 %",
      "value.hits none → 0.25 hits/call", "value.queue.wait 500 ms → none",
      // A percentage of a negative value would show a fall as a rise.
      "value.saldo -2 EUR → -3.5 EUR -1.5 EUR\n",
    ] {
      #expect(text.contains(line), "\(text)")
    }
  }

  @Test("OpenMetrics text has one metric for all reported values, with name and unit as labels")
  func openMetrics() throws {
    var scenario = Fixture.reporting
    scenario.summary.ungated = [(MetricName.value("warm"), "seconds", 0.000_02), (.value("evil\"\n\\"), "x\"y", 2)].map
    {
      MetricResult(
        rule: GateRule(metric: $0, tolerance: nil, severity: .off), unit: $1, verdict: .skipped,
        current: ValueSummary(median: $2, count: 3))
    }
    let record = Fixture.result([scenario]).summary
    let lines = OpenMetricsReport.text(record).split(separator: "\n").map(String.init)
    let labels = #"scenario="cache",environment="linux-x86_64-2cpu-sampled",name="#
    let metric = try #require(lines.firstIndex { $0 == "# TYPE highwater_value gauge" })
    #expect(lines[metric + 1] == "# HELP highwater_value Median of the repetitions: value.")
    let samples = lines.filter { $0.hasPrefix("highwater_value{") }
    #expect(
      samples == [
        #"highwater_value{\#(labels)"balance",unit="EUR"} -3.5"#,
        #"highwater_value{\#(labels)"cache.entries",unit="items"} 1250.0"#,
        #"highwater_value{\#(labels)"cache.size",unit="bytes"} 83886080.0"#,
        #"highwater_value{\#(labels)"evil\"\n\\",unit="x\"y"} 2.0"#,
        #"highwater_value{\#(labels)"hit-share",unit="hits/call"} 0.625"#,
        #"highwater_value{\#(labels)"queue.wait",unit="seconds"} 0.0126"#,
        #"highwater_value{\#(labels)"warm",unit="seconds"} 2e-05"#,
      ])
    // OpenMetrics requires the samples of a metric to be contiguous, after a single `# TYPE`.
    #expect(Array(lines[(metric + 2)...].prefix(samples.count)) == samples)
    #expect(lines.contains(#"highwater_value_baseline{\#(labels)"cache.entries",unit="items"} 1000.0"#))
    #expect(lines.contains { $0.hasPrefix("# UNIT highwater_peak_rss_bytes bytes") })
    #expect(!lines.contains { $0.hasPrefix("# UNIT highwater_value") })
  }

  // MARK: Untrusted text

  static let hostileTexts = [
    "</script><img src=x onerror=alert(1)>", "\u{1b}[2J\u{202e}evil\r\n", "<!channel>`@everyone", "{{#a}}{{{b}}}",
    "a\u{9b}31m \u{2066}b", "' onmouseover='alert(1)",
  ]

  @Test("A hostile name or unit stays plain text on the page", arguments: hostileTexts)
  func hostilePage(text: String) {
    let scenario = Fixture.hostileReport(text)
    let page = RunPage.text(Fixture.result([scenario]), context: SummaryContext(exitCode: .regression))
    #expect(!page.contains("<img") && !page.contains("onmouseover='") && !page.contains("\u{1b}"))
    #expect(!page.contains("\u{202e}") && !page.contains("\u{2066}"))
    #expect(page.components(separatedBy: "</script").count == page.components(separatedBy: "<script").count)
    #expect(page.contains("What the target reported"))
  }

  @Test("A hostile name or unit cannot control the terminal", arguments: hostileTexts)
  func hostileTerminal(text: String) {
    let scenario = Fixture.hostileReport(text)
    let texts =
      SummaryContext.Detail.allCases.map { summary(scenario, detail: $0) }
      + [RecordReport.text(scenario, recording: nil, style: TerminalStyle())]
    let kinds: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
    for text in texts {
      #expect(text.unicodeScalars.filter { $0 != "\n" && kinds.contains($0.properties.generalCategory) }.isEmpty)
    }
  }
}
