import GateCore
import Testing

@testable import GateApplication

/// The only scenario of a file with these lines.
private func scenario(_ lines: String, environment: [String: String] = [:]) throws -> Scenario {
  try #require(try ProjectFolder(scenarioLines: lines).load(environment: environment).scenarios.first)
}

@Suite("Reading a scenario")
struct ScenarioReaderTests {
  static let target = "target: {shell: x, stdin: pipe}\n"

  @Test(
    "Repetitions are a number, or bounds that each have a default",
    arguments: [
      ("3", Repetitions.fixed(3)), ("{min: 7, max: 9}", .adaptive(min: 7, max: 9)),
      ("{min: 30}", .adaptive(min: 30, max: 30)), ("{max: 3}", .adaptive(min: 3, max: 3)),
      ("{min: 6}", .adaptive(min: 6, max: 20)), ("1000", .fixed(1000)),
    ]
  )
  func repetitions(text: String, expected: Repetitions) throws {
    #expect(try scenario(Self.target + "repetitions: \(text)").repetitions == expected)
  }

  @Test(
    "A target that runs already",
    arguments: [
      ("pid: 7", RunningTarget.pid(7)), ("pid: '${P}'", .pid(4711)), ("pidfile: /run/x.pid", .pidfile("/run/x.pid")),
      ("cgroup: /system.slice/x", .cgroup("/system.slice/x")), ("unit: x.service", .unit("x.service", ofUser: false)),
      ("user-unit: x.service", .unit("x.service", ofUser: true)), ("container: web", .container("web")),
    ]
  )
  func running(text: String, expected: RunningTarget) throws {
    let read = try scenario("target: {\(text)}\nsteps: [{wait: 1s}]", environment: ["P": "4711"])
    #expect(read.target.running == expected)
    #expect(read.ending == .steps)
  }

  @Test("An image is its name, or a mapping, and its container is started")
  func image() throws {
    #expect(try scenario("target: {image: redis}").target.running == .image(ContainerImage(name: "redis")))
    let lines = "target: {image: {name: redis, arguments: [a, b], options: [-p, 1:2]}, env: {A: b}}"
    let read = try scenario(lines + "\nready: {log: x}\nsteps: [{expect: y}]")
    var image = ContainerImage(name: "redis")
    (image.arguments, image.options) = (["a", "b"], ["-p", "1:2"])
    #expect(read.target.running == .image(image))
    #expect(read.target.environment == ["A": "b"])
    #expect(try scenario("target: {image: redis}").ending == .exit)
  }

  @Test(
    "An image without what a container cannot have",
    arguments: [
      "target: {image: {}}", "target: {image: --all}", "target: {image: {arguments: [a]}}",
      "target: {image: x, cwd: y}", "target: {image: x, stdin: pipe}", "target: {image: x, command: [y]}",
      "target: {image: x}\nsteps: [{send: y}]", "target: {image: x}\nready: {mark: y}",
      "target: {image: x}\nmemory-limit: 1GiB",
    ]
  )
  func badImage(text: String) {
    #expect(throws: ProjectError.self) { try scenario(text) }
  }

  @Test(
    "It has nothing that a start decides, and needs steps",
    arguments: [
      "target: {pid: 7}", "target: {pid: 0}\nsteps: [{wait: 1s}]", "target: {pid: 7, env: {A: b}}\nsteps: [{wait: 1s}]",
      "target: {pid: 7, pidfile: x}\nsteps: [{wait: 1s}]", "target: {pid: 7}\nsteps: [{send: x}]",
      "target: {pid: 7}\nsteps: [{expect: x}]", "target: {pid: 7}\nready: {log: x}\nsteps: [{wait: 1s}]",
      "target: {pid: 7}\nready: {mark: x}\nsteps: [{wait: 1s}]",
      "target: {pid: 7}\nmemory-limit: 1GiB\nsteps: [{wait: 1s}]", "target: {pid: 7}\ncpus: 4\nsteps: [{wait: 1s}]",
    ]
  )
  func badRunning(text: String) {
    #expect(throws: ProjectError.self) { try scenario(text) }
  }

  @Test(
    "A server is a local port, or a host and a port",
    arguments: [
      ("7001", "127.0.0.1", 7001), ("'7001'", "127.0.0.1", 7001), ("db.local:1", "db.local", 1),
      ("'[::1]:65535'", "::1", 65535),
    ]
  )
  func server(text: String, host: String, port: Int) throws {
    #expect(try scenario(Self.target + "ready: {tcp: \(text)}").ready == Readiness(.tcp(host: host, port: port)))
  }

  @Test(
    "Other servers are rejected", arguments: ["0", "-1", "h:", "':1'", "a:b:1", "'[::1]'", "h:65536", "'[]:1'", "1.5"])
  func badServer(text: String) throws {
    #expect(throws: ProjectError.self) { try scenario(Self.target + "ready: {tcp: \(text)}") }
  }

  @Test("Every other readiness condition")
  func conditions() throws {
    func ready(_ text: String) throws -> Readiness.Condition? {
      try scenario(Self.target + "ready: {\(text)}", environment: ["P": "8080"]).ready?.condition
    }
    #expect(try ready("http: 'http://h:${P}/'") == .http("http://h:8080/"))
    #expect(try ready("unix: /run/../tmp/s.sock") == .unix("/tmp/s.sock"))
    #expect(try ready("file: '/tmp/${P}'") == .file("/tmp/8080"))
    #expect(try ready("command: [test, -e, '${P}']") == .command(.arguments(["test", "-e", "${P}"])))
    #expect(try ready("command: 'test -e ${P}'") == .command(.shell("test -e ${P}")))
    #expect(try ready("delay: 0s") == .delay(.zero))
  }

  @Test("What a key of a script is read as is written under that key", arguments: Readiness.Condition.Keys.all)
  func conditionKeys(key: ScriptKey<Readiness.Condition>) throws {
    #expect(try scenario(Self.target + key.example).ready?.condition.entry.key.name == key.name)
  }

  @Test("What a step is read as is written under its key", arguments: Step.Action.Keys.all)
  func stepKeys(key: ScriptKey<Step.Action>) throws {
    let step = try #require(try scenario(Self.target + "steps: [{\(key.example)}]").steps.first)
    #expect(step.action.entry.key.name == key.name)
  }

  @Test(
    "CPUs are a list of numbers and ranges",
    arguments: [("0", [0]), ("'0'", [0]), ("'0-2,5,1'", [0, 1, 2, 5]), ("[3, 1, 3]", [1, 3]), ("1023", [1023])]
  )
  func cpus(text: String, expected: [Int]) throws {
    #expect(try scenario(Self.target + "isolation: {cpus: \(text)}").isolation.cpus == expected)
  }

  @Test("`cpus` is the number of CPUs that the target sees, also as a value of the matrix")
  func cpuCount() throws {
    #expect(try scenario(Self.target + "cpus: 64\nisolation: {cpus: 0}").isolation.cpuCount == 64)
    #expect(try scenario(Self.target + "cpus: '{{n}}'\nmatrix: {n: [16]}").isolation.cpuCount == 16)
    for bad in ["0", "-1", "100000", "many", "0-3"] {
      #expect(throws: ProjectError.self, "\(bad)") { try scenario(Self.target + "cpus: \(bad)") }
    }
  }

  @Test("What depends on other programs has no automatic tolerance, also as a default")
  func sharedPages() throws {
    let rules = ["peak_pss: 10%", "tree_peak_file: {limit: 9MiB}", "steady_pss: off, peak_rss: 1%", "peak_file: auto"]
    for rule in rules { _ = try scenario(Self.target + "gate: {\(rule)}") }
    for bad in ["peak_pss: auto", "peak_private: auto", "tree_steady_pss: {on: warn}", "tree_peak_file: auto"] {
      #expect(throws: ProjectError.self, "\(bad)") { try scenario(Self.target + "gate: {\(bad)}") }
    }
  }

  @Test("A scale fills its axis with each value, and adds both metrics to the default gate")
  func scale() throws {
    let target = "target: {command: [run, '{{keys}}']}\n"
    let read = try scenario(target + "scale: {axis: keys, values: [10, 20, 40]}")
    #expect(read.target.command == .arguments(["run", "40"]))
    #expect(read.scale?.values == [10, 20, 40] && read.scale?.axis == "keys")
    #expect(read.scale?.smaller.map(\.target.command) == [.arguments(["run", "10"]), .arguments(["run", "20"])])
    #expect(read.gate.rules.suffix(2).map(\.metric) == MetricName.ofScale)
    for bad in [
      "scale: {axis: keys, values: [10]}", "scale: {axis: keys, values: [10, 40, 20]}", "scale: {axis: keys}",
      "scale: {}",
      "scale: {axis: rows, values: [1, 2, 3]}", "scale: [1, 2, 3]", "gate: {bytes_per_item: 1%}",
    ] {
      #expect(throws: ProjectError.self, "\(bad)") { try scenario(target + bad) }
    }
    #expect(throws: ProjectError.self) { try scenario(Self.target + "gate: {bytes_per_item: 1%}") }
    #expect(throws: ProjectError.self, "used nowhere") {
      try scenario(Self.target + "scale: {axis: keys, values: [10, 20, 40]}")
    }
  }

  @Test("Words that YAML 1.1 reads as booleans stay strings")
  func words() throws {
    let read = try scenario(
      """
      target: {command: [echo, yes, no, on, off, true, 7001, 1.50, 0x1F]}
      description: on
      isolation: {aslr: on, thp: off, tracer: off}
      gate: {peak_rss: {limit: 1MiB, on: off}, spike: 8MiB}
      """
    )
    #expect(read.target.command == .arguments(["echo", "yes", "no", "on", "off", "true", "7001", "1.50", "0x1F"]))
    #expect(read.description == "on")
    #expect(read.isolation.randomAddresses)
    #expect(read.isolation.hugePages == .off)
    #expect(read.isolation.tracer == .off)
    #expect(read.gate.rules.map(\.severity) == [.off, .fail])
  }

  @Test("`limit` says what a scenario must survive, and `off` drops that of the defaults")
  func limits() throws {
    let limit = "limit: {survives: 64MiB}\n"
    #expect(try scenario(Self.target + limit).limit == LimitRule(survives: .mebibytes(64)))
    #expect(try scenario(Self.target + "limit: off").limit == nil)
    for bad in [
      "limit: 64 cats", "limit: {}", "limit: {survives: 0B}", "limit: {survive: 1MiB}", limit + "memory-limit: 63MiB",
    ] {
      #expect(throws: ProjectError.self, "\(bad)") { try scenario(Self.target + bad) }
    }
  }

  @Test("The target's input is nothing, a pipe, a file or a text")
  func inputs() throws {
    func input(_ text: String) throws -> Target.Input {
      try scenario("target: {shell: x, stdin: \(text)}").target.input
    }
    #expect(try input("null") == .null)
    #expect(try input("'null'") == .null)
    #expect(try input("pipe") == .pipe)
    #expect(try input("{file: /a/b}") == .file("/a/b"))
    #expect(try input(#"{text: "a\nb"}"#) == .text("a\nb"))
  }

  @Test("`${X}` stays as it is in commands, their environment and their input")
  func untouched() throws {
    let read = try scenario(
      """
      target: {shell: 'echo ${X}', env: {A: '${X}'}, stdin: {text: '${X}'}}
      setup: ['echo ${X}', [echo, '${X}']]
      steps: [{run: 'echo ${X}'}]
      """
    )
    #expect(read.target.command == .shell("echo ${X}"))
    #expect(read.target.environment == ["A": "${X}"])
    #expect(read.target.input == .text("${X}"))
    #expect(read.setup == [.shell("echo ${X}"), .arguments(["echo", "${X}"])])
    #expect(read.steps.map(\.action) == [.run(Step.Client(command: .shell("echo ${X}")))])
  }

  @Test("The mapping form of a client, and the defaults of steps")
  func steps() throws {
    let read = try scenario(
      Self.target + """
        steps:
          - run: {command: [x], within: 60s, exit: [0, 3]}
          - settle: {}
          - expect: {output: x}
          - http: {url: 'http://${H}/', headers: {Authorization: 'Bearer ${T}'}}
        """,
      environment: ["H": "h", "T": "t"]
    )
    var call = Step.HTTPCall(url: "http://h/")
    call.headers = ["Authorization": "Bearer t"]
    #expect(
      try read.steps.map(\.action) == [
        .run(Step.Client(command: .arguments(["x"]), within: .seconds(60), exits: [0, 3])),
        .settle(within: .seconds(10)),
        .expectOutput(Pattern(parsing: "x"), within: .seconds(10)),
        .http(call),
      ]
    )
  }

  @Test(
    "A value alone stands for the mapping with its first key, or for a list of one",
    arguments: [
      ("setup: mkdir x", "setup: [mkdir x]"), ("stop: INT", "stop: {signal: INT}"), ("expect: 3", "expect: {exit: 3}"),
      ("expect: [0, 3]", "expect: {exit: [0, 3]}"), ("tags: server", "tags: [server]"),
      ("limit: 64MiB", "limit: {survives: 64MiB}"), ("steps: [settle: 5min]", "steps: [{settle: {within: 300s}}]"),
      ("steps: [expect: x]", "steps: [{expect: {output: x}}]"),
      ("steps: [run: [x, y]]", "steps: [{run: {command: [x, y]}}]"),
      ("steps: [http: 'http://h/']", "steps: [{http: {url: 'http://h/'}}]"),
    ]
  )
  func shorthand(short: String, long: String) throws {
    let (one, other) = (try scenario(Self.target + short), try scenario(Self.target + long))
    #expect(one.setup == other.setup && one.stop == other.stop && one.expect == other.expect && one.tags == other.tags)
    #expect(one.limit == other.limit)
    #expect(one.steps.map(\.action) == other.steps.map(\.action))
  }

  @Test("A target may be the list of its command")
  func shortTarget() throws {
    #expect(try scenario("target: [x, y]\n").target.command == .arguments(["x", "y"]))
  }

  @Test("Loop turns are counted at every level and do not overflow")
  func turns() {
    func loop(_ times: Int, _ steps: [Step]) -> Step { Step(.repeat(times: times, steps: steps)) }
    let mark = Step(.mark("m"))
    #expect(StepKeys.turns(of: []) == 0)
    #expect(StepKeys.turns(of: [mark, loop(3, [mark, loop(2, [mark])])]) == 10)
    let huge = (0..<8).reduce([mark]) { steps, _ in [loop(1_000_000, steps)] }
    #expect(StepKeys.turns(of: huge + huge) == .max)
  }

  @Test(
    "Every form of a gate rule",
    arguments: [
      ("peak_rss: auto", GateRule(metric: .peakRSS, tolerance: .automatic)),
      ("peak_rss: 512KiB", GateRule(metric: .peakRSS, tolerance: .bounds(relative: nil, absolute: .kibibytes(512)))),
      (
        "peak_rss: [512KiB, 3%]",
        GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
      ),
      ("peak_rss: off", GateRule(metric: .peakRSS, tolerance: .automatic, severity: .off)),
      (
        "peak_rss: {on: warn}",
        GateRule(metric: .peakRSS, tolerance: .automatic, severity: .warn)
      ),
      ("peak_rss: {limit: 1MiB}", GateRule(metric: .peakRSS, tolerance: nil, limit: .mebibytes(1))),
      ("growth: {tolerance: auto}", GateRule(metric: .growth, tolerance: .automatic)),
      ("growth: off", GateRule(metric: .growth, tolerance: .automatic, severity: .off)),
      (
        "phase.a.b.steady_rss: 0%",
        GateRule(metric: .phase("a.b", .steadyRSS), tolerance: .bounds(relative: Percent(0), absolute: nil))
      ),
    ]
  )
  func gateRule(text: String, expected: GateRule) throws {
    #expect(try scenario(Self.target + "gate: {\(text), spike: 8MiB}").gate.rules.first == expected)
  }
}

@Suite("Matrix and defaults")
struct MatrixAndDefaultsTests {
  private func scenarios(_ text: String) throws -> [Scenario] {
    try ProjectFolder(files: ["highwater.yml": "version: 1\n\(text)\n"]).load().scenarios
  }

  @Test("A scenario's value replaces the whole default, except in `gate` and `isolation`, which merge by key")
  func merging() throws {
    let read = try scenarios(
      """
      defaults:
        warmup: 3
        tags: [a]
        stop: {signal: INT, within: 1s}
        gate: {peak_rss: 1%, steady_rss: 2%}
        isolation: {aslr: on, cpus: "1"}
      scenarios:
        - {name: one, target: {shell: x}}
        - name: two
          target: {shell: x}
          warmup: 0
          tags: []
          stop: {signal: HUP}
          gate: {spike: 3%, peak_rss: 4%}
          isolation: {aslr: off}
      """
    )
    func share(_ value: Double) -> Tolerance { .bounds(relative: Percent(value), absolute: nil) }
    #expect(read.map(\.warmup) == [3, 0])
    #expect(read.map(\.tags) == [["a"], []])
    #expect(read.map(\.stop) == [StopRule(signal: .int, within: .seconds(1)), StopRule(signal: .hup)])
    #expect(read.map(\.isolation.randomAddresses) == [true, false])
    #expect(read.map(\.isolation.cpus) == [[1], [1]])
    #expect(read.map { $0.gate.rules.map(\.metric) } == [[.peakRSS, .steadyRSS], [.peakRSS, .steadyRSS, .spike]])
    #expect(read.map { $0.gate.rules.first?.tolerance } == [share(1), share(4)])
  }

  @Test("A matrix gives a scenario for each combination, in file order")
  func names() throws {
    let read = try scenarios(
      "scenarios: [{name: m, target: {shell: x}, matrix: {b: [2, 'x y'], a: [on, 1.0]}}, {name: n, target: {shell: x}}]"
    )
    #expect(read.map(\.name.text) == ["m[b=2,a=on]", "m[b=2,a=1.0]", "m[b=x y,a=on]", "m[b=x y,a=1.0]", "n"])
  }

  @Test("`{{axis}}` is replaced in every string, including keys and defaults; a number stays a number")
  func filled() throws {
    let read = try scenarios(
      """
      defaults: {interval: "{{n}}ms", tags: ["t{{ n }}"]}
      scenarios:
        - name: m
          matrix: {n: [2, 3], V: [A]}
          warmup: "{{n}}"
          target: {command: [x, "{{n}}{{n}}", "{{.Go}} {{ #if }} {{", "{{ {{n}} {{n} }}"], env: {"{{V}}_{{n}}": "{{V}}"}}
          steps: [{repeat: {times: "{{n}}", steps: [{mark: "m{{n}}"}]}}]
      """
    )
    #expect(read.map(\.warmup) == [2, 3])
    #expect(read.map(\.interval) == [.milliseconds(2), .milliseconds(3)])
    #expect(read.map(\.tags) == [["t2"], ["t3"]])
    #expect(read.first?.target.command == .arguments(["x", "22", "{{.Go}} {{ #if }} {{", "{{ 2 {{n} }}"]))
    #expect(read.map(\.target.environment) == [["A_2": "A"], ["A_3": "A"]])
    #expect(read.last.map { scenario in scenario.steps.map { $0.description(in: scenario) } } == ["repeat: 3 times"])
  }

  @Test(
    "The definition and messages have paths and URLs as the file writes them, without the values of variables",
    arguments: [
      ("steps: [http: 'http://127.0.0.1:1/hook/${SECRET}?t=${SECRET}']\n", "steps"),
      ("steps: [{repeat: {times: 2, steps: [http: '${BASE}/x']}}]\n", "steps"),
      ("ready: {http: 'http://127.0.0.1:1/${SECRET}'}\n", "ready"), ("ready: {file: 'run/${SECRET}'}\n", "ready"),
      ("ready: {unix: '/run/${SECRET}'}\n", "ready"), ("target: {shell: x, cwd: 'build/${SECRET}'}\n", "target"),
      ("target: {shell: x, stdin: {file: '${SECRET}'}}\n", "target"),
      ("target: {shell: x, main: {pidfile: 'run/${SECRET}.pid'}}\n", "target"),
    ])
  func writtenTexts(lines: String, key: String) throws {
    let lines = (key == "target" ? "" : ScenarioReaderTests.target) + lines
    func read(_ lines: String, _ secret: String) throws -> Scenario {
      try scenario(lines, environment: ["SECRET": secret, "BASE": "http://127.0.0.1:1/\(secret)"])
    }
    let (one, other) = (try read(lines, "hunter2"), try read(lines, "swordfish"))
    #expect(one != other && one.definition == other.definition)
    #expect(one.filled(with: 7001).definition == one.definition && one.moved(to: "/else").definition == one.definition)
    let literal = lines.replacing("${SECRET}", with: "hunter2").replacing("${BASE}", with: "http://127.0.0.1:1/hunter2")
    #expect(try read(literal, "x").definition.keysThatDiffer(from: one.definition) == [key])
    #expect(!one.steps.contains { $0.description(in: one).contains("hunter2") })
  }

  @Test("`{{port}}` is left for each repetition to fill, beside a matrix, too")
  func port() throws {
    let lines = ScenarioReaderTests.target + "ready: {tcp: '{{port}}'}\nsteps: [http: 'http://127.0.0.1:{{ port }}/']\n"
    let read = try scenario(lines)
    #expect(read.ready?.condition == .tcp(host: "127.0.0.1", port: nil) && read.needsPort)
    #expect(read.filled(with: 7001).ready?.condition == .tcp(host: "127.0.0.1", port: 7001))
    let filled = read.filled(with: 7001)
    #expect(filled.steps.first?.description(in: filled) == "http: GET http://127.0.0.1:7001/")
    let member = try #require(
      try ProjectFolder(scenarioLines: lines + "matrix: {size: [1]}\n").load().scenarios.first)
    #expect(member.needsPort && member.ready == read.ready)
  }

  @Test("Without a matrix, double braces are left alone")
  func noMatrix() throws {
    let read = try scenarios("scenarios: [{name: m, target: {shell: 'echo {{x}}'}}]")
    #expect(read.first?.target.command == .shell("echo {{x}}"))
  }

  @Test("An error in the defaults is reported once, even if every scenario overrides it")
  func errorsInDefaults() throws {
    let folder = try ProjectFolder(
      files: [
        "highwater.yml": """
        version: 1
        defaults: {warmup: x, timeout: 1}
        scenarios: [{name: a, target: {shell: x}, warmup: 1}, {name: b, target: {shell: x}, warmup: 1}]
        """
      ]
    )
    #expect(
      folder.verdict() == """
        highwater.yml:2:20: error: `warmup` must be a whole number from 0 to 100, not `x`
          hint: such as `warmup: 1`
        highwater.yml:2:32: error: the duration `1` has no unit
          hint: write one of ms, s, min, m, h, such as `10s`
        """
    )
  }
}
