import GateCore
import GateReports
import Testing

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
    Fixture.scenario("later", .skipped, notes: ["the run was interrupted before it"]),
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

  @Test("Reads as the golden files show", arguments: cases)
  func golden(name: String, result: RunResult, context: SummaryContext) throws {
    try Golden.expect(SummaryReport.text(result, style: TerminalStyle(), context: context), "summary-\(name).txt")
  }

  @Test("A target killed by an unknown sender is shown, though nothing has failed")
  func killed() {
    var scenario = Fixture.crashed
    scenario.verdict = .inconclusive
    let detail = "killed by SIGKILL; sender unknown (not the OOM killer, not Highwater)"
    scenario.repetitions[2].end = End(.killed, signal: Signal(name: "KILL"), cause: .verbatim(detail))
    let text = SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(), context: SummaryContext(exitCode: .inconclusive))
    #expect(text.contains("the target: it ended before the last step"))
    #expect(text.contains("target ended: killed by SIGKILL; sender unknown (not the OOM killer, not Highwater)"))
    #expect(text.contains("│ Segmentation fault"))
  }

  @Test(
    "What a failure says of the end is not said again",
    arguments: [
      (End(.startFailed, cause: .verbatim("cannot execute `x`")), "cannot execute `x` (is it a file?)"),
      (End(.startFailed, cause: .verbatim("setup failed")), "exited with code 1"),
      (End(.timeout, cause: .verbatim("not ready within 30 s")), "not ready within 30 s"),
      (End(.exited, code: 3), "the target ended: exited with code 3 (expected exit code 0)"),
    ])
  func toldOnce(end: End, problem: String) {
    var scenario = Fixture.crashed
    scenario.repetitions[2].end = end
    scenario.failure?.problem = .verbatim(problem, isInconclusive: false)
    let text = SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .failed))
    #expect(text.contains(problem))
    #expect(!text.contains("  target ended: "))
  }

  @Test("Keeps to its width, but for words to copy", arguments: cases, [40, 60, 80, 120])
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

  @Test("At 80 columns every line fits where no name is long", arguments: cases.filter { $0.name != "hostile" })
  func fits(name: String, result: RunResult, context: SummaryContext) {
    let text = SummaryReport.text(result, style: TerminalStyle(), context: context)
    #expect(text.split(separator: "\n").filter { Terminal.columns($0) > 80 } == [])
  }

  @Test("Colour changes nothing but colour", arguments: cases)
  func colour(name: String, result: RunResult, context: SummaryContext) {
    let plain = SummaryReport.text(result, style: TerminalStyle(), context: context)
    let coloured = SummaryReport.text(result, style: TerminalStyle(colour: true), context: context)
    #expect(!plain.contains("\u{1b}"))
    #expect(coloured.contains("\u{1b}["))
    #expect(Terminal.withoutColour(coloured) == plain)
  }

  @Test("Without Unicode, what the report itself writes is ASCII", arguments: cases.filter { $0.name != "hostile" })
  func ascii(name: String, result: RunResult, context: SummaryContext) {
    let text = SummaryReport.text(result, style: TerminalStyle(unicode: false), context: context)
    #expect(text.filter { !$0.isASCII } == "")
  }

  @Test("The last word of the last line is the exit code's name", arguments: ExitCode.allCases)
  func lastLine(exitCode: ExitCode) {
    for detail in SummaryContext.Detail.allCases {
      let context = SummaryContext(detail: detail, exitCode: exitCode)
      let text = SummaryReport.text(Fixture.result([Fixture.passing("a")]), style: TerminalStyle(), context: context)
      #expect(text.hasSuffix("\nhighwater: \(exitCode.name)\n"))
    }
  }

  @Test("Quiet leaves what failed, the count and the name")
  func quiet() {
    let context = SummaryContext(detail: .quiet, exitCode: .regression, resultPath: "x")
    let result = Fixture.result([Fixture.passing("fine"), Fixture.regressed])
    let text = SummaryReport.text(result, style: TerminalStyle(), context: context)
    #expect(text.hasPrefix("✗ regression  \(Fixture.regressed.name)\n"))
    #expect(text.hasSuffix("\n\n1 of 2 scenarios regressed\nhighwater: regression\n"))
    #expect(!text.contains("fine"))
    #expect(!text.contains("What to do next"))
    let well = SummaryReport.text(
      Fixture.result([Fixture.passing("fine")]), style: TerminalStyle(),
      context: SummaryContext(detail: .quiet, exitCode: .pass)
    )
    #expect(well.split(separator: "\n").count == 2)
  }

  @Test("Hints repeat the options, and quote what a shell would read")
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

  @Test("Where nothing can be approved, no command says so")
  func noApproval() {
    let context = SummaryContext(exitCode: .regression, approval: .unavailable)
    let text = SummaryReport.text(Fixture.result([Fixture.regressed]), style: TerminalStyle(), context: context)
    #expect(!text.contains("approve"))
  }

  @Test("Hundreds of regressions give a command for the first few, and say so")
  func many() {
    let scenarios = (1...500).map { number in
      var scenario = Fixture.regressed
      scenario.name = ScenarioName("s\(number)")
      return scenario
    }
    let context = SummaryContext(exitCode: .regression)
    let text = SummaryReport.text(Fixture.result(scenarios), style: TerminalStyle(), context: context)
    #expect(text.contains("(here for the first 6 of 500):"))
    #expect(text.hasSuffix("500 of 500 scenarios regressed\nhighwater: regression\n"))
  }

  @Test("Nothing from outside reaches the terminal as a control or a change of direction")
  func hostile() {
    var scenario = Fixture.hostile
    scenario.verdict = .failed
    scenario.failure = Failure(
      subject: "step \u{1b}]0;x\u{7}", problem: "\u{202e}bad", place: nil, output: "\u{1b}[2Jcleared\rover\u{8}\n"
    )
    for subject in [Fixture.hostile, scenario] {
      let context = SummaryContext(exitCode: .regression, resultPath: "a\u{1b}b", outputFolder: "c\u{1b}d")
      let text = SummaryReport.text(Fixture.result([subject]), style: TerminalStyle(), context: context)
      let kinds: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
      #expect(text.unicodeScalars.filter { $0 != "\n" && kinds.contains($0.properties.generalCategory) }.isEmpty)
    }
  }

  @Test(
    "A failed target that tells of ptrace gets the hint how to go without",
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
    let hint = "unit-tests could not use ptrace, since the gate itself traces its targets: `isolation: {tracer: off}`"
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
    #expect(record.contains("hint: it could not use ptrace"))
  }

  @Test("What several scenarios say alike is said once, in the quiet summary, too")
  func sharedNotes() {
    let failures = ["a", "b"].map { name in
      var scenario = Fixture.crashed
      scenario.name = ScenarioName(name)
      scenario.notes = ["swap is in use", "only \(name) says this"]
      return scenario
    }
    for detail in SummaryContext.Detail.allCases {
      let text = SummaryReport.text(
        Fixture.result(failures), style: TerminalStyle(), context: SummaryContext(detail: detail, exitCode: .failed))
      #expect(text.ranges(of: "swap is in use").count == 1)
      #expect(text.contains("note: only a says this") && text.contains("note: only b says this"))
    }
  }

  @Test("Of files only those are called new or gone that the other side would have listed")
  func libraries() {
    let library = { (name: String, mebibytes: Int64) in
      Composition.Library(name: name, resident: .mebibytes(mebibytes))
    }
    func change(from before: [Composition.Library], to now: [Composition.Library]) -> String? {
      var scenario = Fixture.spiking
      scenario.baselineComposition = Composition(anonymous: .zero, file: .zero, shared: .zero, libraries: before)
      scenario.currentComposition = Composition(anonymous: .mebibytes(40), file: .zero, shared: .zero, libraries: now)
      let text = SummaryReport.text(
        Fixture.result([scenario]), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .regression))
      let line = text.split(separator: "\n").first { $0.contains("by kind: ") }
      return line.map { String($0.replacing("  by kind: anonymous +40.0 MiB", with: "")) }
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

  @Test("What memory consists of is told only where it shows at least half of what the verdict is of")
  func unrelatedComposition() {
    var scenario = Fixture.regressed
    #expect(summary(of: scenario).contains("by kind: "))
    scenario.currentComposition?.anonymous = Bytes(19_500_000)
    scenario.currentComposition?.file = Bytes(4_000_000)
    #expect(!summary(of: scenario).contains("by kind: "))
  }

  @Test("What is only above a limit is not to be approved, but to get another limit")
  func limitOnly() {
    var scenario = Fixture.regressed
    scenario.metrics.removeFirst()
    let text = summary(of: scenario)
    #expect(!text.contains("highwater approve"))
    #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("no approval lifts it"))
  }

  private func summary(of scenario: ScenarioResult) -> String {
    SummaryReport.text(
      Fixture.result([scenario]), style: TerminalStyle(), context: SummaryContext(exitCode: .regression))
  }

  @Test("What was not read at its end is not called exact")
  func inexact() {
    var scenario = Fixture.traced(Fixture.passing("a"))
    func measured() -> String {
      let text = SummaryReport.text(
        Fixture.result([scenario]), style: TerminalStyle(width: 200), context: SummaryContext(exitCode: .pass))
      return text.split(separator: "\n").first { $0.hasPrefix("measured") }.map(String.init) ?? ""
    }
    #expect(measured().contains("traced+cgroup · peaks exact to 248 KiB · widest gap between readings 12.3 ms"))
    scenario.environment.counters?.difference = .kibibytes(-96)
    scenario.repetitions[2].largestProcesses = Fixture.processes(2, exact: false)
    let exception = "peaks exact to 248 KiB, but as last read in 1 of 5 repetitions · VmRSS is -96 KiB off here"
    #expect(measured().contains(exception))
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].largestProcesses = Fixture.processes(2, exact: false)
    }
    #expect(measured().contains("traced+cgroup · peaks are VmHWM as last read"))
    scenario.environment.fingerprint.measurement = "by\u{1b}magic"
    #expect(measured().hasSuffix(#"by\x1bmagic · VmRSS is -96 KiB off here · widest gap between readings 12.3 ms"#))
  }

  @Test(
    "The line of counts tells the gravest first",
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
