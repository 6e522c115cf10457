import GateCore
import GateReports
import Testing

@Suite("The report of a recorded command")
struct RecordReportTests {
  /// A start-up, a plateau and a spike, read every 10 ms.
  static func recording(samples: Int = 120, processes: Int = 3) -> Recording {
    let readings = (0..<samples).map { index -> Sample in
      let level: Int64 = index == 80 ? 28 : 20
      let resident = Bytes.mebibytes(index < 30 ? Int64(2 + index / 2) : level)
      let figures = MemoryFigures(
        resident: resident, peak: resident, anonymous: resident, file: .zero, shared: .zero
      )
      return Sample(time: .milliseconds(index * 10), main: figures, tree: resident, processes: processes)
    }
    let records = (0..<processes).map { index -> ProcessRecord in
      let peak = Bytes.mebibytes(Int64(index) * 8 + 28)
      return ProcessRecord(
        id: Int32(index + 4000), parent: index == 0 ? 3999 : 4000, command: index == 0 ? "sh" : "worker",
        isMain: index == 0, peak: peak, firstSeen: .milliseconds(index * 20),
        lastSeen: .milliseconds(1190)
      )
    }
    return Recording(
      samples: readings, processes: records,
      composition: Composition(
        anonymous: .mebibytes(17), file: .mebibytes(3), shared: .zero, stack: .kibibytes(132), heap: .mebibytes(12)
      ),
      end: End(.exited, code: 0), duration: .milliseconds(1200), widestGap: .milliseconds(12),
      outputTail: "", notes: []
    )
  }

  static var one: ScenarioResult {
    var scenario = Fixture.scenario("sh -c 'worker & worker'", .pass)
    var repetition = Fixture.repetitions(peak: 29_360_128, steady: 20_971_520, count: 1)[0]
    repetition.metrics[.growth] = 1536.4
    repetition.metrics[.spike] = 8_388_608
    repetition.processes = 3
    repetition.phases = [.init(name: "load", metrics: [.peakRSS: 20_971_520])]
    scenario.repetitions = [repetition]
    return scenario
  }

  static var several: ScenarioResult {
    var scenario = one
    scenario.repetitions = Fixture.repetitions(peak: 29_360_128, steady: 20_971_520, count: 5, step: 65_536)
    scenario.repetitions[4].end = End(.crash, signal: .segv, proof: "the kernel reported SIGSEGV")
    scenario.repetitions[4].metrics[.steadyRSS] = nil
    return scenario
  }

  static let cases: [(name: String, scenario: ScenarioResult, recording: Recording?)] = [
    ("one", one, recording()), ("several", several, recording(processes: 1)), ("short", one, recording(samples: 1)),
    ("bare", several, nil),
    ("hostile", Fixture.hostile, recording(processes: 40)),
  ]

  @Test("Reads as the golden files show", arguments: cases)
  func golden(name: String, scenario: ScenarioResult, recording: Recording?) throws {
    let text = RecordReport.text(scenario, recording: recording, style: TerminalStyle())
    try Golden.expect(text, "record-\(name).txt")
  }

  @Test("Of a command that failed the last output is shown, and of one that did not start the hint")
  func failed() {
    var scenario = Self.one
    scenario.repetitions[0].end = End(.startFailed, detail: "permission denied")
    scenario.failure = Failure(
      subject: "start", problem: "permission denied (chmod +x)", place: nil, output: "1\nno licence\n")
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle())
    #expect(text.contains("  start-failed: permission denied (chmod +x)\n"))
    #expect(text.contains("  its last output:\n  │ 1\n  │ no licence\n"))
  }

  @Test("Without Unicode it is drawn in ASCII")
  func ascii() throws {
    let text = RecordReport.text(Self.one, recording: Self.recording(), style: TerminalStyle(unicode: false))
    #expect(text.filter { !$0.isASCII } == "")
    try Golden.expect(text, "record-ascii.txt")
  }

  @Test("Keeps to its width", arguments: cases, [40, 80, 200])
  func width(of subject: (name: String, scenario: ScenarioResult, recording: Recording?), columns: Int) {
    let style = TerminalStyle(width: columns, colour: true)
    let text = RecordReport.text(subject.scenario, recording: subject.recording, style: style)
    let tooWide = Terminal.withoutColour(text).split(separator: "\n").filter { Terminal.columns($0) > columns }
    #expect(tooWide == [])
  }

  @Test("The curve has eight rows, and a flat one stays flat")
  func curve() {
    var recording = Self.recording()
    for index in recording.samples.indices {
      recording.samples[index].main?.resident = Bytes(20_000_000 + Int64(index % 2) * 4096)
    }
    let text = RecordReport.text(Self.one, recording: recording, style: TerminalStyle())
    let rows = text.split(separator: "\n").filter { $0.contains("│") || $0.contains("┤") }
    #expect(rows.count == 8)
    #expect(rows.dropFirst().filter { !$0.contains("█") } == [])
  }
}

@Suite("The list of what would run")
struct ListingReportTests {
  private static var project: Project {
    get throws {
      var redis = Scenario(
        name: ScenarioName("redis-load[clients=50]"),
        target: Target(command: .arguments(["redis-server", "--port", "7001", "--save", ""]), workingDirectory: "/w")
      )
      redis.description = "Fifty clients fill 100 000 keys"
      redis.tags = ["server", "slow"]
      redis.target.environment = ["TOKEN": "s3cret"]
      redis.setup = [.shell("mkdir -p run")]
      redis.ready = Readiness(.log(try Pattern(parsing: "Ready to accept")), within: .seconds(10))
      redis.steps = [
        Step(.phase("load")), Step(.repeat(times: 3, steps: [Step(.signal(.hup)), Step(.wait(.seconds(1)))])),
      ]
      redis.gate = Gate(rules: [
        GateRule(metric: .peakRSS, tolerance: .standard, limit: .mebibytes(200), severity: .warn),
        GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
        GateRule(metric: .treePeak, tolerance: .automatic),
        GateRule(metric: .phase("load", .peakRSS), tolerance: .bounds(relative: Percent(2.5), absolute: nil)),
      ])
      var tool = Scenario(
        name: ScenarioName("tool"),
        target: Target(command: .shell("./tool \(String(repeating: "x", count: 200))"), workingDirectory: "/w")
      )
      tool.repetitions = .fixed(1)
      tool.warmup = 0
      let hook = Webhook(
        reference: "https://hooks.example/T0/secret", url: Secret("https://hooks.example/T0/secret"), format: .slack,
        occasion: .change
      )
      return Project(
        file: "/w/highwater.yml", root: "/w", baselines: "/w/baselines", history: nil, artifacts: "/w/.highwater",
        webhooks: [hook], scenarios: [redis, tool]
      )
    }
  }

  @Test("Reads as the golden file shows")
  func golden() throws {
    try Golden.expect(ListingReport.text(try Self.project, style: TerminalStyle()), "listing.txt")
  }

  @Test("Neither a webhook's address nor the target's variables are shown")
  func secrets() throws {
    let text = ListingReport.text(try Self.project, style: TerminalStyle(width: 200))
    #expect(!text.contains("hooks.example"))
    #expect(!text.contains("s3cret"))
  }

  @Test("Keeps to its width", arguments: [40, 80])
  func width(columns: Int) throws {
    let text = ListingReport.text(try Self.project, style: TerminalStyle(width: columns))
    #expect(text.split(separator: "\n").filter { Terminal.columns($0) > columns } == [])
  }
}

@Suite("The report of an approval")
struct ApprovalReportTests {
  private static let changes: [ApprovalChange] = [
    ApprovalChange(
      scenario: ScenarioName("new-tool"), environment: "linux", path: "baselines/new-tool/linux.json",
      outcome: .created, after: [.peakRSS: 4_194_304, .steadyRSS: 3_932_160]
    ),
    ApprovalChange(
      scenario: ScenarioName("redis-load[clients=50]"), environment: "linux",
      path: "baselines/redis-load[clients=50]/linux.json", outcome: .replaced,
      before: [.peakRSS: 23_068_672, .phase("load", .peakRSS): 20_000_000, .growth: 0],
      after: [.peakRSS: 24_379_392, .steadyRSS: 22_642_688, .growth: 12.5]
    ),
    ApprovalChange(scenario: ScenarioName("same"), environment: "linux", path: "x", outcome: .unchanged),
    ApprovalChange(
      scenario: ScenarioName("broken"), environment: "linux", path: "x",
      outcome: .skipped(reason: "it failed in the last check, so there are no figures to approve")
    ),
  ]

  @Test("Reads as the golden file shows")
  func golden() throws {
    try Golden.expect(ApprovalReport.text(Self.changes, style: TerminalStyle()), "approval.txt")
  }

  @Test("Keeps to its width, but for paths", arguments: [40, 80])
  func width(columns: Int) {
    let text = ApprovalReport.text(Self.changes, style: TerminalStyle(width: columns))
    let tooWide = text.split(separator: "\n").filter { Terminal.columns($0) > columns && !$0.contains("baselines/") }
    #expect(tooWide == [])
  }

  @Test("Nothing to approve is said")
  func nothing() {
    #expect(ApprovalReport.text([], style: TerminalStyle()) == "nothing to approve\n")
  }
}

@Suite("The line of progress")
struct ProgressReportTests {
  private static let name = ScenarioName("redis-load")

  @Test(
    "Says what goes on",
    arguments: [
      (Progress.scenarioStarted(name, index: 2, of: 14), "redis-load  scenario 2 of 14"),
      (.repetitionStarted(.init(scenario: name, number: 1, of: 1, isWarmup: true)), "redis-load  warm-up 1/1"),
      (
        .repetitionFinished(
          .init(scenario: name, number: 3, of: 10), peak: Bytes(24_207_360), duration: .milliseconds(1200)
        ), "redis-load  3/10  23.1 MiB  1.2 s"
      ),
      (
        .repetitionFinished(.init(scenario: name, number: 3, of: 10), peak: nil, duration: .milliseconds(4)),
        "redis-load  3/10  no peak  4 ms"
      ),
      (.scenarioFinished(Fixture.regressed), "✗ regression  redis-load[clients=50]  peak 23.3 MiB +5.7 %"),
      (.scenarioFinished(Fixture.passing("a")), "✓ pass  a  peak 23.1 MiB +0.4 %"),
      (.scenarioFinished(Fixture.crashed), "✗ failed  api-server  crash"),
    ]
  )
  func line(progress: Progress, text: String) {
    #expect(ProgressReport.line(progress, style: TerminalStyle()) == text)
  }

  @Test("Is narrower than the terminal, whatever the names", arguments: [40, 80])
  func width(columns: Int) {
    let name = ScenarioName(Fixture.hostileName + String(repeating: "漢", count: 100))
    var finished = Fixture.regressed
    finished.name = name
    let repetition = Progress.Repetition(scenario: name, number: 999, of: 1000, isWarmup: true)
    for progress in [
      Progress.scenarioStarted(name, index: 1, of: 2), .repetitionStarted(repetition),
      .repetitionFinished(repetition, peak: Bytes(24_207_360), duration: .seconds(100)), .scenarioFinished(finished),
    ] {
      let line = ProgressReport.line(progress, style: TerminalStyle(width: columns))
      #expect(Terminal.columns(line) < columns)
      let controls = line.filter { $0.isNewline || $0 == "\u{1b}" }
      #expect(controls == "")
    }
  }
}
