import GateCore
import Testing

@testable import GateApplication

@Suite("The documented project file")
struct ContractExampleTests {
  static let environment = [
    "HIGHWATER_WEBHOOK_URL": "https://hooks.example.com/services/T0/B0?token=x", "HIGHWATER_WEBHOOK_SECRET": "s3cret",
  ]

  /// Every key of project-file.md.
  static let text = DocumentGolden.text("contract.yml")

  static let included = "scenarios:\n  - name: idle\n    target: {command: [sleep, 1]}\n"

  /// `text` without comments and trailing blanks, so that every cut or change affects a value.
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

  @Test("It is read exactly as documented; a target that is sent text gets a pipe")
  func exactValue() throws {
    let folder = try folder(Self.text)
    let project = try folder.load(environment: Self.environment)
    #expect(project.file == "\(folder.path)/highwater.yml")
    #expect(project.root == folder.path)
    #expect(project.baselines == "\(folder.path)/baselines")
    #expect(project.history == .file("\(folder.path)/.highwater/history.sqlite"))
    #expect(project.artifacts == "\(folder.path)/.highwater")
    #expect(project.environment == EnvironmentRule())
    #expect(
      project.webhooks == [
        Webhook(
          reference: "${HIGHWATER_WEBHOOK_URL}",
          url: Secret("https://hooks.example.com/services/T0/B0?token=x"),
          secret: SigningSecret("s3cret"),
          place: SourcePlace(file: "highwater.yml", line: 10, column: 5)
        )
      ]
    )
    var idle = Scenario(
      name: ScenarioName("idle"),
      target: Target(command: .arguments(["sleep", "1"]), workingDirectory: folder.path)
    )
    idle.place = SourcePlace(file: "scenarios/idle.yml", line: 2, column: 5)
    idle.root = folder.path
    idle.build = .shell("make")
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
    scenario.place = SourcePlace(file: "highwater.yml", line: 15, column: 5)
    scenario.description = "One client fills 100 000 keys"
    scenario.tags = ["server"]
    scenario.root = root
    scenario.build = .shell("make")
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
    let turn = Step(.run(Step.Client(command: .shell("…"))), place: at(38, 39))
    return [
      Step(.phase("load"), place: at(29)),
      Step(.run(Step.Client(command: .arguments(["redis-benchmark", "-p", "7001", "-q"]))), place: at(30)),
      Step(.http(call), place: at(31)),
      Step(.send("SAVE\n"), place: at(32)),
      Step(.expectOutput(try Pattern(parsing: "saved"), within: .seconds(5)), place: at(33)),
      Step(.signal(.hup), place: at(34)),
      Step(.wait(.seconds(2)), place: at(35)),
      Step(.settle(within: .seconds(10)), place: at(36)),
      Step(.mark("filled"), place: at(37)),
      Step(.repeat(times: 200, steps: [turn]), place: at(38)),
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

  @Test(
    "Truncated after any byte, it is a project or an error with a location, never a crash", .timeLimit(.minutes(60)))
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
        #expect(error.diagnostics.allSatisfy { $0.place?.hasPrefix("highwater.yml") ?? false }, "at byte \(count)")
      }
    }
    #expect((1..<bytes.count).contains(errors))
  }

  @Test("With any one byte changed, it is a project or an error, never a crash", .timeLimit(.minutes(60)))
  func changed() throws {
    let bytes = Array(Self.withoutComments.utf8)
    let folder = try folder("")
    // A fixed sequence (Knuth's MMIX generator), so that failures are reproducible.
    var state: UInt64 = 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let alphabet = Array("\n\t :-{}[],&*#?|>!%@`\"'\\$0aé\u{0}~<".utf8)
    for _ in 0..<300 {
      var changed = bytes
      changed[next(bytes.count)] = alphabet[next(alphabet.count)]
      try folder.write("highwater.yml", bytes: changed)
      do throws(ProjectError) {
        _ = try folder.load(environment: Self.environment)
      } catch {
        #expect(!error.diagnostics.isEmpty)
      }
    }
  }
}
