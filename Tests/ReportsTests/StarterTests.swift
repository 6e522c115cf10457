import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The files that init writes, and what it tells")
struct StarterTests {
  private func starter(
    _ kind: Starter.Kind,
    _ command: [String],
    build: String? = nil,
    in folder: String = "/repo"
  ) -> Starter {
    var scenario = Scenario(
      name: ScenarioName("it"), target: Target(command: .arguments(command), workingDirectory: folder))
    scenario.root = "/repo"
    return Starter(kind: kind, build: build, scenario: scenario)
  }

  private var service: Starter {
    var starter = starter(.node, ["node", "a b.js"], build: "npm ci", in: "/repo/svc")
    let requests = starter.scenario.requesting(from: .tcp(host: "127.0.0.1", port: nil))
    starter.scenario = requests?.changingRequests { ($0.times, $0.expectedStatus) = (50, 404) } ?? starter.scenario
    starter.scenario.target.environment["NODE_OPTIONS"] = CollectedRuntime.node.frequentCollection["NODE_OPTIONS"]
    return starter
  }

  private var examples: [(title: String, starter: Starter)] {
    let job = starter(.make, ["./pack", "-9", ""], build: "make")
    var (server, queue) = (starter(.command, ["srv", "{{port}}"]), starter(.go, ["bin/queue"], build: "go build"))
    let socket = server.scenario.waiting(for: .unix("/repo/run/srv.sock"))
    server.scenario = server.scenario.waiting(for: .tcp(host: "::1", port: 7001))
    queue.scenario = queue.scenario.waiting(for: .delay(.seconds(1)))
    queue.scenario.expect = ExpectedEnd(exits: [3])
    var local = server
    local.scenario = socket
    return [("a program that ends", job), ("HTTP", service), ("TCP", server), ("a socket", local), ("a queue", queue)]
  }

  @Test("The project files")
  func files() throws {
    try Golden.expect(
      examples.map { "### \($0.title)\n\(StarterFile.text($0.starter))" }.joined(separator: "\n"), "starter.txt")
  }

  @Test("The jobs of CI systems are the ready-made pipelines")
  func jobs() throws {
    let root = URL(filePath: #filePath).pathComponents.dropLast(3).joined(separator: "/").dropFirst()
    for (system, name) in [(CISystem.gitHub, "github"), (.gitLab, "gitlab")] {
      let pipeline = try String(contentsOfFile: "\(root)/ci/pipelines/\(name)/memory.yml", encoding: .utf8)
      #expect(system.starterJob(of: examples[0].starter, config: nil)?.text == pipeline)
    }
  }

  @Test("A project file below the root is an option of the job, as text that GitHub does not evaluate")
  func options() throws {
    let job = try #require(CISystem.gitHub.starterJob(of: service, config: nil))
    #expect(job.text.contains("\n          options: \"--config svc/highwater.yml\"\n"), "\(job.text)")
    let hostile = try #require(CISystem.gitHub.starterJob(of: service, config: "${{ secrets.A }}.yml"))
    #expect(hostile.text.contains("--config 'svc/${{ '${{' }} secrets.A }}.yml'"), "\(hostile.text)")
    #expect(CISystem.gitLab.starterJob(of: service, config: nil)?.advice.contains("svc/highwater.yml") == true)
  }

  @Test("What was found and what to do next")
  func report() throws {
    let texts = examples.map { example in
      let file = InitReport.File(path: "highwater.yml", text: "", exists: false)
      let job = InitReport.File(path: "memory.yml", text: "", exists: example.starter.kind == .make)
      let systems = example.starter.kind == .node ? CISystem.allCases : []
      let report = InitReport(
        starter: example.starter, files: example.starter.kind == .go ? [file] : [file, job],
        jobs: systems.compactMap { $0.starterJob(of: example.starter, config: nil) }, options: [],
        baselines: "baselines")
      return report.text(style: TerminalStyle())
    }
    try Golden.expect(texts.joined(separator: "\n"), "init.txt")
    #expect(texts.joined().split(separator: "\n").allSatisfy { Terminal.columns($0) <= 80 })
  }

  @Test(
    "A text in YAML can only be read as this text",
    arguments: [
      ("a", "a"), ("-x", "-x"), ("--port=7", "--port=7"), ("./a-b_c.d", "./a-b_c.d"), ("7001", #""7001""#),
      ("", #""""#), ("-", #""-""#), ("null", #""null""#), ("a: b", #""a: b""#), ("{{port}}", #""{{port}}""#),
      ("a\"\\\n\u{1}", #""a\"\\\n\x01""#), ("é", #""é""#),
    ])
  func words(text: String, yaml: String) {
    #expect(YAMLText.word(text) == yaml)
  }
}

@Suite("The report of doctor")
struct DoctorReportTests {
  private static let good: [MachineProperty] = [
    MachineProperty(.measuring(nil)), MachineProperty(.method(.tracedInCgroup)),
    MachineProperty(.tracing(isPermitted: true, yama: 1, isFiltered: false)),
    MachineProperty(.memoryCgroup(folder: "/sys/fs/cgroup/job")),
    MachineProperty(.memoryLimit(nil, used: .zero)), MachineProperty(.addresses(areRandom: true, canBeFixed: true)),
    MachineProperty(.hugePages("madvise")), MachineProperty(.swap(used: nil)),
    MachineProperty(.cpus(usable: 4, online: 4)), MachineProperty(.limits(openFiles: 1024, processes: nil)),
    MachineProperty(.system(kernel: "6.1.0", architecture: "x86_64", libc: "glibc 2.36", pageSize: 4096)),
    MachineProperty(.explaining(ProfilerLimits())),
    MachineProperty(.noise(ProbeNoise(peaks: [.mebibytes(2)], durations: [.milliseconds(20)]))),
  ]

  private static let bad: [MachineProperty] = [
    MachineProperty(.measuring(.tooFew(resource: .descriptors, needed: 32))), MachineProperty(.method(.sampled)),
    MachineProperty(
      .tracing(isPermitted: false, yama: nil, isFiltered: true), note: .noTracing(barrier: .seccomp)),
    MachineProperty(
      .memoryCgroup(folder: nil), note: .noMemoryCgroup(error: .readOnly(folder: "/sys/fs/cgroup"))),
    MachineProperty(
      .memoryLimit(.mebibytes(256), used: .mebibytes(250)),
      note: .smallLimit(limit: .mebibytes(256), used: .mebibytes(250))),
    MachineProperty(.addresses(areRandom: true, canBeFixed: false), note: .addressesNotFixed),
    MachineProperty(.hugePages("always"), note: .hugePagesAlways),
    MachineProperty(.swap(used: .mebibytes(3)), note: .swapInUse(used: .mebibytes(3))),
    MachineProperty(.cpus(usable: 2, online: 64), note: .fewerCPUs(usable: 2, online: 64)),
    MachineProperty(.explaining(nil)),
    MachineProperty(.explaining(ProfilerLimits(canStopAtFaults: false, missingLibrary: "libdw.so.1: not found"))),
    MachineProperty(
      .noise(
        ProbeNoise(
          peaks: [.mebibytes(2), .kibibytes(2248)],
          durations: [.milliseconds(20), .milliseconds(21), .milliseconds(50)]))),
    MachineProperty(
      .scenario(ScenarioName("load"), .memoryLimitUnavailable(error: .readOnly(folder: "/sys/fs/cgroup")))),
  ]

  @Test("Each line names its value, and a remedy where there is one")
  func text() throws {
    let text = [Self.good, Self.bad].map { DoctorReport.text($0, style: TerminalStyle()) }.joined(separator: "\n")
    try Golden.expect(text, "doctor.txt")
    #expect(text.split(separator: "\n").allSatisfy { Terminal.columns($0) <= 80 })
    #expect(Self.good.allSatisfy { $0.status == .good && DoctorReport.words(of: $0).hint == nil })
  }

  @Test("What is not good has a hint; without it nothing would be told to do")
  func hints() {
    #expect(Self.bad.allSatisfy { $0.status != .good && DoctorReport.words(of: $0).hint != nil })
  }
}
