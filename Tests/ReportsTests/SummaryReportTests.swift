import GateCore
import Testing

@testable import GateApplication

@Suite("The summary on the terminal")
struct SummaryReportTests {
  static let cases: [(name: String, result: RunResult, context: SummaryContext)] = [
    ("all-pass", Fixture.result(["redis-load", "json-parse", "a"].map { Fixture.passing($0) }), context(.pass)),
    ("regression", Fixture.result([Fixture.regressed, Fixture.passing("json-parse")]), context(.regression)),
    ("improvement", Fixture.result([Fixture.improved, Fixture.passing("redis-load")]), context(.pass)),
    ("crash", Fixture.result([Fixture.crashed]), context(.failed)),
    ("failed-step", Fixture.result([Fixture.failedStep]), context(.failed)),
    ("inconclusive", Fixture.result([Fixture.inconclusive]), context(.inconclusive)),
    ("no-baseline", Fixture.result([Fixture.withoutBaseline]), context(.noBaseline)),
    ("other-environment", Fixture.result([Fixture.otherEnvironment]), context(.noBaseline)),
    ("warning", Fixture.result([Fixture.warned]), context(.pass)),
    ("matrix", Fixture.result(Fixture.matrix + [Fixture.regressed]), context(.regression)),
    ("hostile", Fixture.result([Fixture.hostile]), context(.regression)),
    ("mixed", Fixture.result(everything), context(.regression)),
    ("verbose", Fixture.result([Fixture.regressed, Fixture.passing("a")]), verbose(context(.regression))),
    ("compare", Fixture.result([Fixture.regressed], run: local), comparison),
    ("spike", Fixture.result([Fixture.spiking]), context(.regression)),
    ("out-of-memory", Fixture.result([Fixture.outOfMemory]), context(.failed)),
    ("machine", Fixture.result(Fixture.warnedOfMachine), context(.regression)),
    ("processes", Fixture.result([Fixture.traced(Fixture.passing("a"), processes: 30)]), verbose(context(.pass))),
    ("values", Fixture.result([Fixture.reporting, Fixture.looping, Fixture.changedUnit]), context(.regression)),
    ("values-verbose", Fixture.result([Fixture.reporting]), verbose(context(.regression))),
    ("empty", Fixture.result([]), context(.pass)),
  ]

  static let everything = [
    Fixture.passing("tiny"), Fixture.regressed, Fixture.improved, Fixture.crashed, Fixture.failedStep,
    Fixture.inconclusive, Fixture.withoutBaseline, Fixture.warned,
    Fixture.scenario("later", .skipped),
  ]

  private static var local: RunInfo {
    var run = Fixture.run
    run.buildURL = nil
    return run
  }

  private static let comparison = SummaryContext(
    command: .compare, exitCode: .regression, approval: .file("out/current run.json")
  )

  private static func context(_ exitCode: ExitCode) -> SummaryContext {
    SummaryContext(
      exitCode: exitCode, resultPath: ".highwater/result.json", outputFolder: ".highwater/output",
      outputs: [ScenarioName("api-server"): ".highwater/output/api-server.3.log"]
    )
  }

  private static func verbose(_ context: SummaryContext) -> SummaryContext {
    var context = context
    context.detail = .verbose
    return context
  }

  @Test("What a pull request edits of its own gate is in each report; what is unknown, in the verbose one")
  func ownEdits() {
    var run = Fixture.run
    let names = (1...7).map { "load-\($0)" }
    run.notes = [.editsOwnGate(baselines: names, files: ["ci/a.yml", "b`.yml"]), .unknownEdits]
    let result = Fixture.result([Fixture.passing("a")], run: run)
    let sentence = "this change edits the baselines of load-1, load-2, load-3, load-4 and 3 more and the project files"
    func summary(_ context: SummaryContext) -> String {
      SummaryReport.text(result, style: TerminalStyle(width: 400), context: context)
    }
    #expect(summary(Self.context(.pass)).contains("note: \(sentence) `ci/a.yml` and `b`.yml`: review them\n"))
    run.notes = [.editsOwnGate(baselines: [], files: ["highwater.yml"])]
    let single = SummaryReport.text(
      Fixture.result([Fixture.passing("a")], run: run), style: TerminalStyle(width: 400), context: Self.context(.pass))
    #expect(single.contains("note: this change edits the project file `highwater.yml`: review it\n"))
    #expect(!summary(Self.context(.pass)).contains("cannot tell"))
    #expect(summary(Self.verbose(Self.context(.pass))).contains("note: cannot tell whether this change edits its own"))
    #expect(MarkdownReport.text(result, context: Self.context(.pass)).contains("\n**this change edits the baselines"))
    #expect(GitHubCommands.annotations(for: result, context: Self.context(.pass)).hasPrefix("::notice::\(sentence)"))
  }

  @Test("The summaries match the golden files", arguments: cases)
  func golden(name: String, result: RunResult, context: SummaryContext) throws {
    try Golden.expect(SummaryReport.text(result, style: TerminalStyle(), context: context), "summary-\(name).txt")
  }

  @Test("On a narrow terminal each table row becomes a paragraph")
  func narrow() throws {
    let result = Fixture.result([Fixture.regressed, Fixture.traced(Fixture.passing("a"), processes: 3)])
    let context = Self.verbose(Self.context(.regression))
    try Golden.expect(
      SummaryReport.text(result, style: TerminalStyle(width: 40), context: context), "summary-narrow.txt")
  }

  @Test("A kill by an unknown sender is reported even if nothing failed")
  func killed() {
    var scenario = Fixture.crashed
    scenario.verdict = .inconclusive
    scenario.repetitions[2].end = End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: nil))
    let text = SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(width: 200),
      context: SummaryContext(exitCode: .inconclusive))
    #expect(text.contains("the target ended (killed by SIGSEGV) during the step"))
    #expect(text.contains("the target ended: killed by SIGKILL; sender unknown (not the OOM killer, not Highwater)"))
    #expect(text.contains("│ Segmentation fault"))
  }

  @Test(
    "The target's end is not repeated if the failure already states it",
    arguments: [
      (End(.startFailed, cause: .setupFailed), .commandEnded(status: .exited(code: 1), expected: [0])),
      (
        End(.timeout, cause: .timeout(kind: .notReady(within: .seconds(30)), limitHits: nil)),
        .timeout(kind: .notReady(within: .seconds(30)))
      ),
      (End(.exited, code: 3), .unexpectedEnd(expected: ExpectedEnd(exits: [0]))),
      (End(.exited, code: 3), .targetEnded(status: .exited(code: 3), isBefore: true)),
    ] as [(End, Failure.Problem)])
  func endNotRepeated(end: End, problem: Failure.Problem) {
    var scenario = Fixture.crashed
    scenario.repetitions[2].end = end
    scenario.failure = Failure(part: .init(.step), problem: problem, end: end)
    let text = SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .failed))
    #expect(text.contains("  step: "))
    #expect(!text.contains("  the target ended: "))
  }

  @Test("Every line fits the width, except text to copy", arguments: cases, [40, 60, 80, 120])
  func width(of subject: (name: String, result: RunResult, context: SummaryContext), columns: Int) {
    let text = SummaryReport.text(
      subject.result, style: TerminalStyle(width: columns), context: subject.context
    )
    for line in text.split(separator: "\n") where Terminal.columns(line) > columns {
      let words = line.drop { $0 == " " }
      let isOneWord = !words.contains(" ") || words.hasPrefix("'") || words.hasPrefix("$'")
      let isPath = words.hasPrefix("whole output: ") || words.hasPrefix("result  ")
      #expect(isOneWord || isPath, "\(columns) columns: \(line)")
    }
  }

  @Test("At 80 columns every line fits if no name is long", arguments: cases.filter { $0.name != "hostile" })
  func fits(name: String, result: RunResult, context: SummaryContext) {
    let text = SummaryReport.text(result, style: TerminalStyle(), context: context)
    #expect(text.split(separator: "\n").filter { Terminal.columns($0) > 80 } == [])
  }

  @Test("Colour does not change the text", arguments: cases)
  func colour(name: String, result: RunResult, context: SummaryContext) {
    let plain = SummaryReport.text(result, style: TerminalStyle(), context: context)
    let coloured = SummaryReport.text(result, style: TerminalStyle(colour: true), context: context)
    #expect(!plain.contains("\u{1b}"))
    #expect(coloured.contains("\u{1b}["))
    #expect(Terminal.withoutColour(coloured) == plain)
  }

  @Test("Without Unicode the report's own text is ASCII", arguments: cases.filter { $0.name != "hostile" })
  func ascii(name: String, result: RunResult, context: SummaryContext) {
    let text = SummaryReport.text(result, style: TerminalStyle(unicode: false), context: context)
    #expect(text.filter { !$0.isASCII } == "")
  }

  @Test("The last word of the last line is the name of the exit code", arguments: ExitCode.allCases)
  func lastLine(exitCode: ExitCode) {
    for detail in SummaryContext.Detail.allCases {
      let context = SummaryContext(detail: detail, exitCode: exitCode)
      let text = SummaryReport.text(Fixture.result([Fixture.passing("a")]), style: TerminalStyle(), context: context)
      #expect(text.hasSuffix("\nhighwater: \(exitCode.name)\n"))
    }
  }

  @Test("`--quiet` prints failures, counts and the exit code name")
  func quiet() {
    let context = SummaryContext(detail: .quiet, exitCode: .regression, resultPath: "x")
    let result = Fixture.result([Fixture.passing("fine"), Fixture.regressed])
    let text = SummaryReport.text(result, style: TerminalStyle(), context: context)
    #expect(text.hasPrefix("✗ regression  \(Fixture.regressed.name)\n"))
    #expect(text.hasSuffix("\n\n1 of 2 scenarios regressed\nhighwater: regression\n"))
    #expect(!text.contains("fine"))
    #expect(!text.contains("What to do next"))
    let passing = SummaryReport.text(
      Fixture.result([Fixture.passing("fine")]), style: TerminalStyle(),
      context: SummaryContext(detail: .quiet, exitCode: .pass)
    )
    #expect(passing.split(separator: "\n").count == 2)
  }

  @Test("Hints repeat the options and quote them for a shell")
  func hints() {
    let context = SummaryContext(exitCode: .regression, options: ["--config", "ci/my file.yml"])
    let text = SummaryReport.text(
      Fixture.result([Fixture.regressed]), style: TerminalStyle(width: 200), context: context
    )
    #expect(
      text.contains("highwater approve --config 'ci/my file.yml' 'redis-load[clients=50]'\n")
    )
    #expect(text.contains("highwater check --verbose --config 'ci/my file.yml' 'redis-load[clients=50]'\n"))
  }

  @Test("Without an approvable result no command is suggested")
  func noApproval() {
    let context = SummaryContext(exitCode: .regression, approval: .unavailable)
    let text = SummaryReport.text(Fixture.result([Fixture.regressed]), style: TerminalStyle(), context: context)
    #expect(!text.contains("approve"))
  }

  /// As many regressions, with names and tags, and passing scenarios beside them.
  private func many(_ count: Int, _ name: (Int) -> String, tags: [String] = [], passing: Int = 0) -> String {
    let scenarios = (1...(count + passing)).map { number in
      var scenario = number <= count ? Fixture.regressed : Fixture.passing("p")
      scenario.name = ScenarioName(number <= count ? name(number) : "p\(number)")
      scenario.tags = number <= count ? tags : []
      return scenario
    }
    let context = SummaryContext(exitCode: .regression)
    return SummaryReport.text(Fixture.result(scenarios), style: TerminalStyle(), context: context)
  }

  @Test("Commands for many regressions are whole: no names for all, else a tag, a matrix, a pattern, or every name")
  func wholeCommands() {
    let all = many(12, { "s\($0)" }, passing: 3)
    #expect(all.contains("    highwater approve\n") && all.contains("check --verbose s1 s2"), "\(all)")
    let tagged = many(12, { "s\($0)" }, tags: ["http"], passing: 3)
    #expect(tagged.contains("    highwater check --verbose tag:http\n"), "\(tagged)")
    let matrix = many(12, { "load[n=\($0)]" }, passing: 3)
    #expect(matrix.contains("    highwater check --verbose load\n"), "\(matrix)")
    let named = many(12, { "import-\($0 % 2 == 0 ? "users" : "items")-\($0)" }, passing: 3)
    #expect(named.contains("    highwater check --verbose 'import-*'\n"), "\(named)")
    #expect(many(12, { "s\($0)" }, passing: 3).contains("s12"))
  }

  @Test("A gate that allows half as much again as the program needs is reported, as is a limit with `--verbose`")
  func looseGate() throws {
    func text(_ scenario: ScenarioResult, _ detail: SummaryContext.Detail = .normal) -> String {
      var context = SummaryContext(exitCode: .pass)
      context.detail = detail
      let text = SummaryReport.text(Fixture.result([scenario]), style: TerminalStyle(), context: context)
      return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    var scenario = Fixture.improved
    #expect(!text(scenario).contains("the gate allows"))
    let now = try #require(scenario.metrics[0].current).median
    scenario.summary.metrics[0].baseline = .init(median: 3 * now, count: 5)
    let advice = "the gate allows 3.0 times what json-parse needs; to keep the improvement, approve it"
    #expect(text(scenario).contains(advice), "\(text(scenario))")

    var limited = Fixture.passing("server")
    let level = try #require(limited.metrics[0].current).median
    limited.summary.metrics[0].rule = GateRule(metric: .peakRSS, tolerance: nil, limit: .size(Bytes(Int64(4 * level))))
    #expect(text(limited, .verbose).contains("server: the `limit` of peak_rss is 4.0 times what the program needs"))
    #expect(!text(limited).contains("the `limit` of"))
  }

  @Test("Many regressions give a command for all of them")
  func many() {
    let text = many(500) { "s\($0)" }
    #expect(text.contains("    highwater approve\n") && !text.contains("the first"))
    #expect(text.hasSuffix("500 of 500 scenarios regressed\nhighwater: regression\n"))
  }

  @Test("Untrusted text cannot control the terminal or change the text direction")
  func hostile() {
    var scenario = Fixture.hostile
    scenario.verdict = .failed
    scenario.failure = Failure(
      part: .init(.step, text: "step \u{1b}]0;x\u{7}"),
      problem: .http(url: "\u{202e}bad", problem: .noAnswer(reason: "refused"), request: 1, of: 1),
      output: "\u{1b}[2Jcleared\rover\u{8}\n")
    for subject in [Fixture.hostile, scenario] {
      let context = SummaryContext(exitCode: .regression, resultPath: "a\u{1b}b", outputFolder: "c\u{1b}d")
      let text = SummaryReport.text(Fixture.result([subject]), style: TerminalStyle(), context: context)
      let kinds: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
      #expect(text.unicodeScalars.filter { $0 != "\n" && kinds.contains($0.properties.generalCategory) }.isEmpty)
    }
  }

  @Test(
    "A failed target that mentions ptrace gets a hint to turn tracing off",
    arguments: [
      "HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)",
      "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted",
      "ptrace: Operation not permitted.",
      "Could not attach to process.  If your uid matches the uid of the target process, check the setting of",
      "warning: process 4001 is already traced by process 4000",
      "could not attach to pid 4001: operation not permitted",
      "error: attach failed: Operation not permitted",
    ])
  func ptrace(line: String) {
    let hint = "unit-tests cannot use ptrace while Highwater traces it; to measure it by sampling, write `isolation:"
    func text(_ scenario: ScenarioResult) -> String {
      let context = SummaryContext(exitCode: .failed)
      return SummaryReport.text(Fixture.result([scenario]), style: TerminalStyle(width: 200), context: context)
    }
    let refused = Fixture.refusedPtrace("==1==LeakSanitizer has encountered a fatal error\n\(line)\n")
    #expect(text(refused).contains(hint))
    var sampled = refused
    sampled.environment = Fixture.environment
    #expect(!text(sampled).contains("tracer: off"))
    #expect(!text(Fixture.refusedPtrace("open: Operation not permitted\n")).contains("tracer: off"))
    let record = RecordReport.text(refused, recording: nil, style: TerminalStyle(width: 200))
    #expect(record.contains("hint: it cannot use ptrace"))
    let explanation = Explanation(scenario: refused.name, obstacle: refused.failure.map { .failed(failure: $0) })
    let explained = ExplainReport.text([explanation], style: TerminalStyle(width: 200))
    #expect(explained.contains("hint: it cannot use ptrace while Highwater traces it, so it cannot be profiled"))
  }

  @Test("A note shared by several scenarios is printed once, also with `--quiet`")
  func sharedNotes() {
    let failures = ["a", "b"].map { name in
      var scenario = Fixture.crashed
      scenario.name = ScenarioName(name)
      scenario.notes = [.machine(note: .swapInUse(used: .mebibytes(64))), .comparedWithBuild(build: name)]
      return scenario
    }
    for detail in SummaryContext.Detail.allCases {
      let text = SummaryReport.text(
        Fixture.result(failures), style: TerminalStyle(), context: SummaryContext(detail: detail, exitCode: .failed))
      #expect(text.ranges(of: "of swap are in use").count == 1)
      #expect(text.contains("note: compared with the build `a`") && text.contains("note: compared with the build `b`"))
    }
  }

  @Test("A file counts as new or gone only if the other side would have listed it")
  func libraries() {
    let library = { (name: String, mebibytes: Int64) in
      Composition.Library(name: name, resident: .mebibytes(mebibytes))
    }
    func change(from before: [Composition.Library], to now: [Composition.Library]) -> String? {
      var scenario = Fixture.spiking
      // A shorter list would have all files.
      let always = (1...Composition.storedLibraries).map { library("always\($0)", 30) }
      scenario.reference?.composition = Composition(
        anonymous: .zero, file: .zero, shared: .zero, libraries: always + before)
      scenario.composition = Composition(
        anonymous: .mebibytes(40), file: .zero, shared: .zero, libraries: always + now)
      let text = SummaryReport.text(
        Fixture.result([scenario]), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .regression))
      let line = text.split(separator: "\n").first { $0.contains("by kind at the end: ") }
      return line.map { String($0.replacing("  by kind at the end: anonymous +40.0 MiB", with: "")) }
    }
    let old = [library("a", 9), library("b", 5), library("c", 4)]
    #expect(change(from: old, to: old) == "")
    #expect(change(from: [], to: old) == "")
    #expect(change(from: old, to: old + [library("d", 3)]) == "")
    #expect(
      change(from: old, to: [library("a", 9), library("b", 6), library("d", 8)])
        == ", file 0 B (d +8.0 MiB, b +1.0 MiB)")
    #expect(change(from: old, to: [library("b", 5), library("c", 4)]) == ", file 0 B (a -9.0 MiB)")
  }

  @Test("The composition is shown only if it explains at least half of the change")
  func unrelatedComposition() {
    var scenario = Fixture.regressed
    #expect(summary(of: scenario).contains("by kind at the end: "))
    scenario.composition?.anonymous = Bytes(19_500_000)
    scenario.composition?.file = Bytes(4_000_000)
    #expect(!summary(of: scenario).contains("by kind at the end: "))
  }

  @Test("A value that is only above its limit is not offered for approval")
  func limitOnly() {
    var scenario = Fixture.regressed
    scenario.metrics.removeFirst()
    let text = summary(of: scenario)
    #expect(!text.contains("highwater approve"))
    #expect(
      text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("which an approval does not change"))
  }

  private func summary(of scenario: ScenarioResult) -> String {
    SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(), context: SummaryContext(exitCode: .regression))
  }

  @Test("A peak is called exact only if it was read at the process's end")
  func inexact() {
    var scenario = Fixture.traced(Fixture.passing("a"))
    func measured() -> String {
      let text = SummaryReport.text(
        Fixture.result([scenario]), style: TerminalStyle(width: 200),
        context: SummaryContext(detail: .verbose, exitCode: .pass))
      return text.split(separator: "\n").first { $0.hasPrefix("measured") }.map(String.init) ?? ""
    }
    #expect(measured().contains("traced+cgroup · peaks exact to 248 KiB · widest gap between readings 12.3 ms"))
    scenario.environment.counters?.difference = .kibibytes(-96)
    scenario.repetitions[2].largestProcesses = Fixture.processes(2, exact: false)
    let exception = "peaks exact to 248 KiB except in 1 of 5 repetitions · VmRSS is 96 KiB below the sum of smaps"
    #expect(measured().contains(exception))
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].largestProcesses = Fixture.processes(2, exact: false)
    }
    #expect(measured().contains("traced+cgroup · peaks are the last VmHWM read"))
    scenario.environment.fingerprint.measurement = "by\u{1b}magic"
    let difference = "VmRSS is 96 KiB below the sum of smaps"
    #expect(measured().hasSuffix(#"by\x1bmagic · \#(difference) · widest gap between readings 12.3 ms"#))
  }

  @Test(
    "The line of counts starts with the worst verdict",
    arguments: [
      ([], "no scenarios"), ([.pass], "1 scenario passes"), ([.pass, .pass], "2 scenarios pass"),
      ([.pass, .improved], "2 scenarios pass, 1 of them improved"), ([.improved], "1 scenario passes, improved"),
      ([.regression, .pass, .regression], "2 of 3 scenarios regressed"),
      ([.failed, .inconclusive, .pass], "1 of 3 scenarios failed, 1 inconclusive"),
      ([.noBaseline], "1 of 1 scenario has no baseline"),
      ([.noBaseline, .noBaseline, .failed], "1 of 3 scenarios failed, 2 without a baseline"),
      ([.inconclusive, .inconclusive, .skipped], "2 of 3 scenarios are inconclusive, 1 skipped"),
      ([.regression, .improved, .failed], "1 of 3 scenarios regressed, 1 failed, 1 improved"),
      ([.pass, .skipped], "1 scenario passes, 1 skipped"), ([.skipped], "1 scenario skipped"),
    ] as [([Verdict], String)]
  )
  func counts(verdicts: [Verdict], text: String) {
    let scenarios = verdicts.enumerated().map { Fixture.scenario("s\($0)", $1) }
    #expect(summaryLine(Fixture.result(scenarios)) == text)
  }
}
