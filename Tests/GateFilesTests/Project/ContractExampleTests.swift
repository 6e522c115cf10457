import GateCore
import Testing

@testable import GateFiles

@Suite("The example that the contract gives")
struct ContractExampleTests {
  static let environment = [
    "HIGHWATER_WEBHOOK_URL": "https://hooks.example.com/services/T0/B0?token=x", "HIGHWATER_WEBHOOK_SECRET": "s3cret",
  ]

  /// CONTRACT section 1, letter for letter.
  static let text = #"""
    version: 1
    baselines: baselines                 # folder
    history: .highwater/history.sqlite   # SQLite file; `off` for none
    artifacts: .highwater                # where reports and raw recordings go
    include: [scenarios/*.yml]           # files with a `scenarios:` list
    defaults:                            # any scenario key but name and target
      warmup: 1
    webhooks:
      - url: ${HIGHWATER_WEBHOOK_URL}    # ${NAME} is taken from the environment; unset = an error that names it
        format: json                     # json | slack | teams | discord
        on: always                       # always | failure | change
        secret: ${HIGHWATER_WEBHOOK_SECRET}   # optional: signs the body
    scenarios:
      - name: redis-load                 # [A-Za-z0-9][A-Za-z0-9._-]{0,99}, unique
        description: One client fills 100 000 keys
        tags: [server]
        target:
          command: [redis-server, --port, "7001", --save, ""]   # argv, no shell; or `shell: "…"` (/bin/sh -c)
          env: {LC_ALL: C}               # added to a small fixed environment (PATH, HOME, TMPDIR, LANG=C.UTF-8)
          inherit-env: [JAVA_HOME]       # names passed through
          cwd: .
          stdin: null                    # null | pipe (for `send`) | {file: path} | {text: "…"}
          main: {pidfile: run/x.pid}     # only for daemons: which process of the tree is the main one; or {name: regex}
        setup:    [[mkdir, -p, run]]     # before each repetition, unmeasured; argv lists or shell strings
        teardown: ["rm -rf run"]         # after each repetition, also after failures
        ready: {log: "Ready to accept", within: 10s}   # log: regex | tcp: 7001 or host:port | unix: path | http: url | file: path | command: […] | delay: 1s
        steps:
          - phase: load                  # starts a phase; it ends at the next one or at the stop
          - run: [redis-benchmark, -p, "7001", -q]     # a client, unmeasured; argv or shell string; also {command: …, within: 60s, exit: 0}
          - http: {url: "http://127.0.0.1:7001/x", method: POST, body: "…", headers: {A: b}, expect: 200, times: 100}
          - send: "SAVE\n"               # to the target's standard input
          - expect: {output: "saved", within: 5s}      # regex on the target's output
          - signal: HUP
          - wait: 2s
          - settle: {within: 10s}        # until resident memory is steady
          - mark: filled
          - repeat: {times: 200, steps: [{run: "…"}]}  # each turn is an iteration: growth is per iteration
        stop: {signal: TERM, within: 10s}   # then KILL, and the report says so
        until: steps                     # steps (stop after the last step; default where there are steps or `ready`) | exit (wait for the target to end; default otherwise)
        expect: {exit: 0}                # exit: N or [N, …], or signal: NAME. Default: exit 0 where the target ends by itself; 0 or the stop signal where it is stopped
        timeout: 5m
        repetitions: {min: 5, max: 20}   # the default: as many as a decision needs; a number = fixed; 10 while there is no baseline yet
        warmup: 1                        # repetitions run first and not counted
        interval: 10ms                   # between samples
        memory-limit: 512MiB             # the target's memory cgroup, where one can be made; an error where not
        isolation: {aslr: off, thp: inherit, cpus: "0", tracer: auto}   # aslr: off|on · thp: inherit|off · cpus: list · tracer: auto|on|off
        matrix: {clients: [1, 50]}       # one scenario for each combination, named redis-load[clients=1]; {{clients}} in any string
        gate:                            # default: peak_rss and steady_rss, each at [3%, 512KiB]
          peak_rss: 3%                   # relative, or absolute (512KiB), or both: [3%, 512KiB] = the larger counts; or auto (from the baseline's noise)
          steady_rss: {tolerance: [2%, 256KiB], limit: 200MiB, on: fail}   # limit: absolute budget, judged without a baseline; on: fail | warn | off
          growth: {limit: 1KiB}          # per iteration where there are iterations, else per second
          spike: {tolerance: 8MiB}       # transient height above the steady level
          tree_peak: 3%                  # whole process tree
          phase.load.peak_rss: 5%

    """#

  static let included = "scenarios:\n  - name: idle\n    target: {command: [sleep, 1]}\n"

  /// The same without what makes no difference, so that each cut or change meets something.
  static let withoutComments =
    text.split(separator: "\n").map { line in
      var line = line.firstRange(of: " #").map { line[..<$0.lowerBound] } ?? line
      while line.last == " " { line.removeLast() }
      return line
    }
    .joined(separator: "\n") + "\n"

  private func folder(_ text: String) throws -> ProjectFolder {
    try ProjectFolder(files: ["highwater.yml": text, "scenarios/idle.yml": Self.included])
  }

  @Test("Letter for letter it means exactly this; a target that is sent text gets a pipe")
  func exactValue() throws {
    let folder = try folder(Self.text)
    let project = try folder.load(environment: Self.environment)
    #expect(project.file == "\(folder.path)/highwater.yml")
    #expect(project.root == folder.path)
    #expect(project.baselines == "\(folder.path)/baselines")
    #expect(project.history == "\(folder.path)/.highwater/history.sqlite")
    #expect(project.artifacts == "\(folder.path)/.highwater")
    #expect(project.environment == EnvironmentRule())
    #expect(
      project.webhooks == [
        Webhook(
          reference: "${HIGHWATER_WEBHOOK_URL}",
          url: Secret("https://hooks.example.com/services/T0/B0?token=x"),
          secret: Secret("s3cret"),
          place: SourcePlace(file: "highwater.yml", line: 9, column: 5)
        )
      ]
    )
    var idle = Scenario(
      name: ScenarioName("idle"),
      target: Target(command: .arguments(["sleep", "1"]), workingDirectory: folder.path)
    )
    idle.place = SourcePlace(file: "scenarios/idle.yml", line: 2, column: 5)
    idle.root = folder.path
    let expected =
      try ["redis-load[clients=1]", "redis-load[clients=50]"].map { try load($0, in: folder.path) } + [idle]
    #expect(project.scenarios.map(\.name) == expected.map(\.name))
    for (scenario, wanted) in zip(project.scenarios, expected) { #expect(scenario == wanted) }
  }

  private func load(_ name: String, in root: String) throws -> Scenario {
    var target = Target(
      command: .arguments(["redis-server", "--port", "7001", "--save", ""]), workingDirectory: root
    )
    target.environment = ["LC_ALL": "C"]
    target.inheritedEnvironment = ["JAVA_HOME"]
    target.input = .pipe
    target.main = .pidfile("\(root)/run/x.pid")
    var scenario = Scenario(name: ScenarioName(name), target: target)
    scenario.place = SourcePlace(file: "highwater.yml", line: 14, column: 5)
    scenario.description = "One client fills 100 000 keys"
    scenario.tags = ["server"]
    scenario.root = root
    scenario.setup = [.arguments(["mkdir", "-p", "run"])]
    scenario.teardown = [.shell("rm -rf run")]
    scenario.ready = Readiness(.log(try Pattern(parsing: "Ready to accept")), within: .seconds(10))
    scenario.steps = try steps()
    scenario.stop = StopRule(signal: .term, within: .seconds(10))
    scenario.until = .steps
    scenario.expect = ExpectedEnd(exits: [0])
    scenario.timeout = .seconds(300)
    scenario.repetitions = .adaptive(min: 5, max: 20)
    scenario.warmup = 1
    scenario.interval = .milliseconds(10)
    scenario.memoryLimit = .mebibytes(512)
    scenario.isolation.cpus = [0]
    scenario.gate = gate
    return scenario
  }

  private func steps() throws -> [Step] {
    func at(_ line: Int, _ column: Int = 9) -> SourcePlace {
      SourcePlace(file: "highwater.yml", line: line, column: column)
    }
    var call = Step.HTTPCall(url: "http://127.0.0.1:7001/x")
    call.method = "POST"
    call.body = "…"
    call.headers = ["A": "b"]
    call.expectedStatus = 200
    call.times = 100
    let turn = Step(.run(Step.Client(command: .shell("…"))), place: at(37, 39))
    return [
      Step(.phase("load"), place: at(28)),
      Step(.run(Step.Client(command: .arguments(["redis-benchmark", "-p", "7001", "-q"]))), place: at(29)),
      Step(.http(call), place: at(30)),
      Step(.send("SAVE\n"), place: at(31)),
      Step(.expectOutput(try Pattern(parsing: "saved"), within: .seconds(5)), place: at(32)),
      Step(.signal(.hup), place: at(33)),
      Step(.wait(.seconds(2)), place: at(34)),
      Step(.settle(within: .seconds(10)), place: at(35)),
      Step(.mark("filled"), place: at(36)),
      Step(.repeat(times: 200, steps: [turn]), place: at(37)),
    ]
  }

  private var gate: Gate {
    func share(_ value: Double) -> Tolerance { .bounds(relative: Percent(value), absolute: nil) }
    return Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: share(3)),
      GateRule(
        metric: .steadyRSS,
        tolerance: .bounds(relative: Percent(2), absolute: .kibibytes(256)),
        limit: .mebibytes(200)
      ),
      GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
      GateRule(metric: .spike, tolerance: .bounds(relative: nil, absolute: .mebibytes(8))),
      GateRule(metric: .treePeak, tolerance: share(3)),
      GateRule(metric: .phase("load", .peakRSS), tolerance: share(5)),
    ])
  }

  @Test("Cut short after any byte it is a project or an error with a place, never a crash", .timeLimit(.minutes(5)))
  func truncated() throws {
    let bytes = Array(Self.withoutComments.utf8)
    let folder = try folder("")
    var errors = 0
    for count in 0..<bytes.count {
      try folder.write("highwater.yml", bytes: Array(bytes.prefix(count)))
      do throws(ProjectError) {
        _ = try folder.load(environment: Self.environment)
      } catch {
        errors += 1
        #expect(error.complaints.allSatisfy { $0.place?.hasPrefix("highwater.yml") ?? false }, "at byte \(count)")
      }
    }
    #expect((1..<bytes.count).contains(errors))
  }

  @Test("With any one byte changed it is a project or an error, never a crash", .timeLimit(.minutes(5)))
  func changed() throws {
    let bytes = Array(Self.withoutComments.utf8)
    let folder = try folder("")
    // A fixed sequence (Knuth's MMIX generator), so that a failure can be looked at again.
    var state: UInt64 = 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let alphabet = Array("\n\t :-{}[],&*#?|>!%@`\"'\\$0aé\u{0}~<".utf8)
    for _ in 0..<1000 {
      var changed = bytes
      changed[next(bytes.count)] = alphabet[next(alphabet.count)]
      try folder.write("highwater.yml", bytes: changed)
      do throws(ProjectError) {
        _ = try folder.load(environment: Self.environment)
      } catch {
        #expect(!error.complaints.isEmpty)
      }
    }
  }
}
