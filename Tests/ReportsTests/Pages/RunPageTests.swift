import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The run page")
struct RunPageTests {
  private let context = SummaryContext(exitCode: .regression, resultPath: ".highwater/result.json")

  /// The visible part of the page: the body without data and scripts.
  private func body(_ result: RunResult, _ context: SummaryContext? = nil) throws -> String {
    let text = RunPage.text(result, context: context ?? self.context)
    let start = try #require(text.range(of: "<body>\n")).upperBound
    let end = try #require(text.range(of: "<script")).lowerBound
    return String(text[start..<end])
  }

  /// The text of the body, without markup and with plain spaces.
  private func words(_ result: RunResult, _ context: SummaryContext? = nil) throws -> String {
    var text = try body(result, context).replacing(/<[^>]*>/, with: " ")
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
      text = text.replacing(entity, with: character)
    }
    return text.replacing("\u{a0}", with: " ").replacing(/\s+/, with: " ")
  }

  @Test("A page with a regression, a failure and a pass matches the golden file")
  func golden() throws {
    let result = Fixture.result([Fixture.passing("json-parse"), Fixture.crashed, Fixture.charted])
    try Golden.expect(try body(result), "run.html")
  }

  @Test("The page of a recorded command has its values and the command to repeat it")
  func recording() throws {
    var scenario = Fixture.passing("ls")
    scenario.repetitions = scenario.repetitions.prefix(1) + []
    scenario.repetitions[0].curve = Fixture.curve(peak: 24_207_360)
    var context = SummaryContext(command: .record, exitCode: .pass, approval: .unavailable)
    context.measured = ["ls", "-l", "a b"]
    let words = try words(Fixture.result([scenario]), context)
    #expect(words.contains("Memory of ls") && words.contains("peak 23.1 MiB high-water mark (VmHWM)"))
    #expect(words.contains("highwater record -- ls -l 'a b'"))
    #expect(!words.contains("approve") && !words.contains("Scenarios") && !words.contains("pass"))
  }

  @Test(
    "The page and the terminal report use the same sentences",
    arguments: [
      Fixture.charted, Fixture.inconclusive, Fixture.improved, Fixture.withoutBaseline, Fixture.spiking, Fixture.warned,
      Fixture.failedStep, Fixture.crashed, Fixture.reporting, Fixture.looping, Fixture.changedUnit,
    ]
  )
  func sameSentences(scenario: ScenarioResult) throws {
    let result = Fixture.result([scenario])
    var context = context
    context.approval = .file(".highwater/result.json")
    let words = try words(result, context)
    let terminal = SummaryReport.text(result, style: TerminalStyle(width: 200), context: context)
    for metric in scenario.metrics {
      guard [.regression, .improved, .inconclusive].contains(metric.verdict), let sentence = metric.reasonText else {
        continue
      }
      let plain = sentence.replacing("\u{a0}", with: " ")
      #expect(words.contains(plain) || scenario.verdict == .failed)
      #expect(terminal.replacing(/\s+/, with: " ").contains(plain) == words.contains(plain))
    }
    for line in terminal.split(separator: "\n") where line.hasPrefix("note: ") || line.hasPrefix("  note: ") {
      #expect(words.contains(line.replacing("note: ", with: "").trimmingCharacters(in: .whitespaces)))
    }
    for metric in scenario.metrics where scenario.verdict != .failed {
      #expect(words.contains(metric.metric.label(unit: metric.unit)))
      if let now = metric.current { #expect(words.contains(plain(now.median, metric))) }
      if let before = metric.baseline { #expect(words.contains(plain(before.median, metric))) }
    }
    if let failure = scenario.failure { #expect(words.contains(failure.displayText)) }
    #expect(words.contains(summaryLine(result)))
  }

  private func plain(_ value: Double, _ metric: MetricResult) -> String {
    Format.plainAmount(value, unit: metric.unit).replacing("\u{a0}", with: " ")
  }

  @Test("The page shows every part of a detailed result")
  func parts() throws {
    let words = try words(Fixture.result([Fixture.charted]))
    for part in [
      "Resident memory of the main process , repetition 3 of 5", "The peak, 23.3 MiB, came between 0.295 s and 0.300 s",
      "the steady state from 0.410 s to 0.990 s went from 21.6 MiB to 22.1 MiB", "load", "serve", "filled",
      "the baseline", "the whole process tree", "120 iterations",
      "+1.3 MiB: anonymous +1.2 MiB (heap +1.2 MiB), file +51.2 KiB", "at the peak", "libssl.so.3 512 KiB",
      "Processes of repetition 3, the largest first", "worker", "SIGSEGV, core dumped", "5 repetitions",
      "How it ended", "exited with code 0, 5 of 5 repetitions", "kernel 6.1 → 6.18.5",
      "highest spike: 30.0 MiB in phase load, between 0.812 s and 0.822 s, while a CPU was busy",
      "highwater check --verbose 'redis-load[clients=50]'",
      "highwater approve --reason 'why it is intended' --from .highwater/result.json 'redis-load[clients=50]'",
      "commit 4f2a91c0d6e8", "branch main", "build https://ci.example/builds/17", "started 2026-01-02 03:04 UTC",
      "approved 12 days ago", "peaks exact to 248 KiB", "95 % interval", "detectable",
    ] {
      #expect(words.contains(part), "\(part)")
    }
  }

  @Test("A commit with uncommitted changes is marked")
  func dirty() throws {
    var result = Fixture.result([Fixture.passing("a")])
    result.run.isDirty = true
    #expect(try words(result).contains("commit 4f2a91c0d6e8-dirty"))
  }

  @Test("Failures come first and are expanded; passes are collapsed, unless nothing else ran")
  func order() throws {
    let result = Fixture.result([Fixture.passing("a"), Fixture.inconclusive, Fixture.crashed, Fixture.charted])
    let headings = try body(result).matches(
      of: /<details class="scenario" id="([^"]+)"( open)?>\n<summary><h2>.*?<\/span> ([^<]*)</)
    #expect(headings.map { String($0.3) } == ["redis-load[clients=50]", "api-server", "jvm-start", "a"])
    #expect(headings.map { $0.2 != nil } == [true, true, true, false])
    #expect(headings.map { String($0.1) } == (1...4).map { "scenario-\($0)" })
    #expect(try body(Fixture.result([Fixture.passing("a")])).contains("id=\"scenario-1\" open>"))
  }

  @Test(
    "Only a web address becomes a link",
    arguments: [
      ("https://ci.example/1?a=b&c=<d>", true), ("HTTP://ci.example/", true), ("javascript:alert(1)", false),
      ("data:text/html,<script>alert(1)</script>", false), ("//ci.example", false), (" https://ci.example", false),
      ("https://ci.example/\u{202e}", false), ("file:///etc/passwd", false),
    ]
  )
  func links(address: String, isLink: Bool) throws {
    var run = Fixture.run
    run.buildURL = address
    let body = try body(Fixture.result([Fixture.passing("a")], run: run))
    #expect(body.contains("<a href=\"h") == isLink || body.contains("<a href=\"H") == isLink)
    #expect(try words(Fixture.result([Fixture.passing("a")], run: run)).contains("build"))
  }

  @Test("Untrusted text is never markup")
  func hostileWords() throws {
    let hostile = "</script></title></details><img src=x onerror=alert(1)>\"'&{{#a}}{{{b}}}"
    var scenario = Fixture.charted
    scenario.name = ScenarioName(hostile)
    scenario.notes = [.comparedWithBuild(build: hostile)]
    scenario.failure = Failure(
      part: .init(.step, text: hostile),
      problem: .http(url: hostile, problem: .noAnswer(reason: "refused"), request: 1, of: 1),
      place: SourcePlace(file: hostile, line: 1, column: 1), output: hostile)
    scenario.environment.name = hostile
    scenario.environment.fingerprint.measurement = hostile
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].curve?.phases = [.init(hostile, at: .zero)]
      scenario.repetitions[index].curve?.marks = [.init(hostile, at: .milliseconds(10))]
      scenario.repetitions[index].end = End(
        .crash, signal: .segv, proof: .kernelLog(line: hostile), cause: .fatalError(line: hostile))
      scenario.repetitions[index].notes = [.threadsNotFollowed(command: hostile, count: 1)]
      scenario.repetitions[index].largestProcesses[0].command = hostile
      scenario.repetitions[index].spike?.phase = hostile
    }
    scenario.composition?.libraries = [.init(name: hostile, resident: .mebibytes(1))]
    scenario.metrics[0].reason = .mixedUnits(units: [hostile])
    scenario.approval?.by = hostile
    var run = Fixture.run
    (run.commit, run.subject, run.branch, run.buildURL) = (hostile, hostile, hostile, "https://\(hostile)")
    let text = RunPage.text(Fixture.result([scenario], run: run), context: context)
    #expect(!text.contains("<img"))
    #expect(text.components(separatedBy: "</script").count == text.components(separatedBy: "<script").count)
    #expect(text.components(separatedBy: "</details>").count == text.components(separatedBy: "<details").count)
  }

  @Test("A result without curves, as of an earlier version, still has a page")
  func withoutCurves() throws {
    let body = try body(Fixture.result([Fixture.regressed]))
    #expect(!body.contains("<figure") && body.contains("peak_rss"))
    #expect(try words(Fixture.result([])).contains("no scenarios"))
  }

  @Test("20 scenarios with 20 repetitions each stay within 2 MB")
  func size() {
    let scenarios = (0..<20).map { number in
      var scenario = Fixture.charted
      scenario.name = ScenarioName("scenario-\(number)")
      scenario.repetitions = (0..<20).map { index in
        var repetition = scenario.repetitions[index % 5]
        repetition.curve = Self.noisyCurve(seed: number * 20 + index)
        return repetition
      }
      return scenario
    }
    let text = RunPage.text(Fixture.result(scenarios), context: context)
    #expect(text.utf8.count < 2_000_000, "\(text.utf8.count) bytes")
  }

  /// A curve with the maximum number of points, all different.
  private static func noisyCurve(seed: Int) -> MemoryCurve {
    var curve = Fixture.curve(peak: 24_379_392, hasTree: true)
    let points = (0..<MemorySeries.mostPoints).map { index in
      let low = Bytes.kibibytes(20_000 + Int64((index * 7919 + seed * 104_729) % 4001))
      return MemorySeries.Point(
        time: .microseconds(index * 123_400), low: low, high: low + .kibibytes(Int64(index * 31 % 97)))
    }
    curve.main = MemorySeries(points)
    curve.tree = MemorySeries(Array(points.prefix(MemorySeries.mostSecondaryPoints)))
    return curve
  }
}
