import GateCore
import Testing

@Suite("What a scenario's memory depends on")
struct ScenarioDefinitionTests {
  private static func scenario(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    var target = Target(command: .arguments(["server", "--port", "7"]), workingDirectory: "/srv/app")
    target.environment = ["A": "1", "B": "2"]
    target.input = .file("/srv/app/input.txt")
    var scenario = Scenario(name: ScenarioName("load"), target: target)
    scenario.root = "/srv/app"
    scenario.ready = Readiness(.http("http://localhost:8080/ready?n=1"))
    scenario.steps = [Step(.phase("load")), Step(.repeat(times: 2, steps: [Step(.wait(.seconds(1)))]))]
    change(&scenario)
    return scenario
  }

  private func changedKeys(_ change: (inout Scenario) -> Void) -> [String] {
    Self.scenario(change).definition.keysThatDiffer(from: Self.scenario().definition)
  }

  @Test("Of a target that runs already, all but its process ID")
  func running() {
    func hash(_ running: RunningTarget) -> String? {
      Self.scenario { $0.target = Target(running: running, workingDirectory: "/srv/app") }.definition.hashes["target"]
    }
    #expect(hash(.pid(7)) == hash(.pid(8)))
    #expect(hash(.unit("a", ofUser: false)) != hash(.unit("a", ofUser: true)))
    #expect(hash(.unit("a", ofUser: false)) != hash(.unit("b", ofUser: false)))
    #expect(hash(.pidfile("/srv/app/a")) != hash(.pidfile("/srv/app/b")))
    var image = ContainerImage(name: "a")
    image.arguments = ["b"]
    #expect(hash(.image(image)) != hash(.image(ContainerImage(name: "a"))))
  }

  @Test("Settings that change memory change the hash of their key")
  func keys() throws {
    #expect(changedKeys { $0.target.command = .arguments(["server", "--port 7"]) } == ["target"])
    #expect(changedKeys { $0.target.command = .shell("server --port 7") } == ["target"])
    #expect(changedKeys { $0.target.environment["A"] = "2" } == ["target"])
    #expect(changedKeys { $0.target.inheritedEnvironment = ["JAVA_HOME"] } == ["target"])
    #expect(changedKeys { $0.target.workingDirectory += "/build" } == ["target"])
    #expect(changedKeys { $0.target.input = .pipe } == ["target"])
    #expect(changedKeys { $0.target.main = .pidfile("/srv/app/pid") } == ["target"])
    #expect(changedKeys { $0.setup = [.shell("make")] } == ["setup"])
    #expect(changedKeys { $0.teardown = [.shell("make clean")] } == ["teardown"])
    #expect(changedKeys { $0.ready = Readiness(.http("http://localhost:8080/ready?n=2")) } == ["ready"])
    #expect(changedKeys { $0.steps[1] = Step(.repeat(times: 3, steps: [Step(.wait(.seconds(1)))])) } == ["steps"])
    #expect(changedKeys { $0.steps.append(Step(.signal(.hup))) } == ["steps"])
    #expect(changedKeys { $0.stop.signal = .kill } == ["stop"])
    #expect(changedKeys { $0.until = .exit } == ["until"])
    #expect(changedKeys { $0.memoryLimit = .mebibytes(10) } == ["memory-limit"])
    #expect(changedKeys { $0.isolation.cpus = [0] } == ["isolation"])
    #expect(changedKeys { ($0.setup, $0.isolation.tracer) = ([.shell("make")], .off) } == ["setup", "isolation"])
  }

  @Test("Commands and steps are told apart from others with the same words")
  func structure() {
    func steps(_ steps: [Step]) -> [String: String] { Self.scenario { $0.steps = steps }.definition.hashes }
    let wait = Step(.wait(.seconds(1)))
    #expect(
      steps([Step(.repeat(times: 2, steps: [wait, wait]))]) != steps([Step(.repeat(times: 2, steps: [wait])), wait]))
    #expect(
      changedKeys { $0.setup = [.arguments(["a", "b"])] } == ["setup"]
        && Self.scenario { $0.setup = [.arguments(["a", "b"])] }.definition
          != Self.scenario { $0.setup = [.arguments(["a"]), .arguments(["b"])] }.definition
    )
  }

  @Test("Timeouts, gates, tags, repetitions, secrets and the folder of the checkout do not matter")
  func irrelevant() {
    #expect(changedKeys { ($0.timeout, $0.stop.within, $0.interval) = (.seconds(1), .seconds(1), .seconds(1)) } == [])
    #expect(changedKeys { ($0.gate, $0.tags, $0.description) = (Gate(rules: []), ["x"], "y") } == [])
    #expect(changedKeys { ($0.repetitions, $0.warmup, $0.expect) = (.fixed(1), 9, ExpectedEnd(exits: [1])) } == [])
    #expect(changedKeys { $0.ready = Readiness(.http("http://ci:9/ready?n=1"), within: .seconds(1)) } == [])
    #expect(
      changedKeys { scenario in
        (scenario.root, scenario.target.workingDirectory) = ("/builds/7", "/builds/7")
        scenario.target.input = .file("/builds/7/input.txt")
      } == [])
    func call(_ token: String) -> Scenario {
      Self.scenario { scenario in
        var call = Step.HTTPCall(url: "http://localhost/x")
        call.headers = ["Authorization": token]
        scenario.steps = [Step(.http(call))]
      }
    }
    #expect(call("one").definition == call("two").definition)
  }

  @Test("Hashes are the same on every machine and in every version")
  func stable() {
    let scenario = Scenario(name: ScenarioName("x"), target: Target(command: .shell("true"), workingDirectory: "/"))
    #expect(scenario.definition.hashes == ["target": StableHash.hexadecimal(of: "shell\0true\u{0}0\u{0}0\0.\0null")])
    #expect(scenario.definition.command == "true")
  }

  @Test(
    "Commits are the same if one is an abbreviation of at least 7 digits of the other",
    arguments: [
      ("9437a5f0c0ffee", "9437a5f", true), ("9437A5F", "9437a5f0c0ffee", true), ("9437a5f", "9437a5f", true),
      ("9437a5", "9437a5f0c0ffee", false), ("c1", "c1", true), ("", "9437a5f0c0ffee", false),
      ("9437a5f0", "9437a5f1", false), ("9437a5f0c0ffee", "9437a5f0c0ffee\nrm x", false),
      ("9437a5f", "9437a5f x", false),
    ])
  func commits(left: String, right: String, areSame: Bool) {
    #expect(CommitID.areSame(left, right) == areSame && CommitID.areSame(right, left) == areSame)
  }
}
