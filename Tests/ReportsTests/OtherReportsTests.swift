import GateCore
import Testing

@testable import GateApplication

@Suite("The list of scenarios")
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
        GateRule(
          metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), limit: .mebibytes(200),
          severity: .warn),
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

  @Test("The list matches the golden file")
  func golden() throws {
    try Golden.expect(ListingReport.text(try Self.project, style: TerminalStyle()), "listing.txt")
  }

  @Test("Webhook addresses and the target's variables are not printed")
  func secrets() throws {
    let text = ListingReport.text(try Self.project, style: TerminalStyle(width: 200))
    #expect(!text.contains("hooks.example"))
    #expect(!text.contains("s3cret"))
  }

  @Test("Every line fits the width", arguments: [40, 80])
  func width(columns: Int) throws {
    let text = ListingReport.text(try Self.project, style: TerminalStyle(width: columns))
    #expect(text.split(separator: "\n").filter { Terminal.columns($0) > columns } == [])
  }
}

@Suite("The approval report")
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
    ApprovalChange(
      scenario: ScenarioName("moved"), environment: "linux", path: "baselines/moved/changes/linux.019b.json",
      outcome: .changed, before: [.peakRSS: 4_194_304], after: [.peakRSS: 5_242_880]),
    ApprovalChange(
      scenario: ScenarioName("folded"), environment: "linux", path: "baselines/folded/linux.json",
      outcome: .folded(changes: 2), before: [.peakRSS: 4_194_304], after: [.peakRSS: 4_198_400]),
    ApprovalChange(
      scenario: ScenarioName("measured"), environment: "linux-1cpu", path: "baselines/measured/linux-1cpu.json",
      outcome: .moved(
        from: "linux", commit: "9437a5f0c0ffee", differences: [.init(field: .cpus, baseline: "2", current: "1")]),
      before: [.peakRSS: 4_194_304], after: [.peakRSS: 3_932_160]),
    unchanged("here", .hasBaseline), unchanged("unknown", .nothingApproved),
    unchanged("same", .equalValues), unchanged("new", .nothingToFold), unchanged("risen", .differsFromChanges),
    unchanged("passing", .passes),
    unchanged("higher", .notImproved),
    skipped("broken", [.failed(Fixture.failure(of: End(.exited, code: 1)))]),
    skipped(
      "incomplete",
      [
        .unavailable(metric: .steadyRSS, cause: .neverSteady(steadiness: .unsteady)),
        .unavailable(metric: .value("hits"), cause: .notReported(in: 0, of: 5)),
      ]),
    skipped("shallow", [.unknownApprovedCommit(environment: "linux")]),
    skipped(
      "old one",
      [
        .otherCommit(measured: Fixture.run.commit ?? "", isDirty: true, head: "9437a5f0c0ffee"),
        .otherDefinition(measured: definition("server --old"), current: definition("server --new")),
        .fewerThanPlanned(count: 1, least: 5),
        .comparedWithBuild(build: "BUILD=main"), .otherEnvironment(measured: "linux-x86_64-2cpu-traced", named: "ci"),
        .otherMachine(environment: "ci", differences: [.init(field: .cpus, baseline: "64", current: "2")]),
      ]),
  ]

  private static func unchanged(_ name: String, _ reason: ApprovalChange.KeepReason) -> ApprovalChange {
    ApprovalChange(scenario: ScenarioName(name), environment: "linux", path: "x", outcome: .unchanged(reason))
  }

  private static func skipped(_ name: String, _ reasons: [ApprovalChange.SkipReason]) -> ApprovalChange {
    ApprovalChange(scenario: ScenarioName(name), environment: "linux", path: "x", outcome: .skipped(reasons))
  }

  private static func definition(_ command: String) -> ScenarioDefinition {
    Scenario(name: ScenarioName("x"), target: Target(command: .shell(command), workingDirectory: "/")).definition
  }

  /// The replaced baseline as it is written.
  private static var written: [ApprovalChange] {
    var changes = changes
    (changes[1].countBefore, changes[1].countAfter) = (5, 10)
    changes[1].fewerValues = [.steadyRSS: 9]
    changes[1].hiddenGrowth = HiddenGrowth(.fewIterations, upTo: 2621, iterations: 50)
    changes[1].approval = Approval(
      at: Fixture.run.startedAt, by: "Ada", commit: Fixture.run.commit, isDirty: true, reason: "larger cache", run: "1")
    return changes
  }

  @Test("The report matches the golden file")
  func golden() throws {
    try Golden.expect(ApprovalReport.text(Self.written, style: TerminalStyle()), "approval.txt")
  }

  @Test("Every line fits the width, except paths", arguments: [40, 80])
  func width(columns: Int) {
    let text = ApprovalReport.text(Self.written, style: TerminalStyle(width: columns))
    let tooWide = text.split(separator: "\n").filter { Terminal.columns($0) > columns && !$0.contains("baselines/") }
    #expect(tooWide == [])
  }

  @Test("An approval without scenarios is reported")
  func nothing() {
    #expect(ApprovalReport.text([], style: TerminalStyle()) == "nothing to approve\n")
  }

  @Test("A quiet report has what was refused and the counts")
  func quiet() {
    let text = ApprovalReport.text(Self.written, style: TerminalStyle(), isQuiet: true)
    #expect(!text.contains("created  ") && text.contains("skipped  ") && text.contains("baselines: "), "\(text)")
  }
}

@Suite("Progress lines")
struct ProgressReportTests {
  private static let name = ScenarioName("redis-load")

  @Test(
    "The line names the scenario, the repetition and its peak",
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

  @Test("The line fits the terminal, whatever the names", arguments: [40, 80])
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
