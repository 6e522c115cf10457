import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem
import Testing

@testable import GateProbe

/// Runs scenarios with real programs in a temporary folder, with a marker in the environment of each process.
final class ScenarioHarness: Sendable {
  let testProcesses = TestProcesses()
  let interruption = Interruption()

  var folder: String { testProcesses.folder }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// A scenario whose target is a shell command line.
  func scenario(_ line: String) -> Scenario {
    scenario(.shell(line))
  }

  func scenario(_ command: Command) -> Scenario {
    var target = Target(command: command, workingDirectory: folder)
    let parts = testProcesses.marker.split(separator: "=")
    target.environment = [String(parts[0]): String(parts[1])]
    var scenario = Scenario(name: ScenarioName("test"), target: target)
    scenario.root = folder
    scenario.timeout = .seconds(60)
    scenario.stop.within = .seconds(30)
    return scenario
  }

  /// A scenario whose target is a Python program.
  func python(_ program: String) -> Scenario {
    scenario(.arguments(["python3", "-u", "-c", program]))
  }

  /// Runs a scenario once; fails the test if it leaves processes or files behind.
  func run(_ scenario: Scenario, output: String? = nil, at location: SourceLocation = #_sourceLocation) throws
    -> Recording
  {
    try #require(measure(scenario, output: output, at: location), sourceLocation: location)
  }

  func measure(_ scenario: Scenario, output: String? = nil, at location: SourceLocation = #_sourceLocation)
    -> Recording?
  {
    let temporary = path("tmp")
    mkdir(temporary, 0o700)
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = temporary
    let recording = Probe(interruption: interruption, environment: environment).measure(scenario, output: output)
    #expect(testProcesses.processes == [], "leftover processes", sourceLocation: location)
    let files = try? FileManager.default.contentsOfDirectory(atPath: temporary)
    #expect(files == [], "leftover temporary files", sourceLocation: location)
    return recording
  }

  /// The text of a file in the folder; empty if there is none.
  func text(_ name: String) -> String {
    SmallFile.text(at: path(name), atMost: 1 << 25) ?? ""
  }

  /// An unused port of the loopback interface.
  static func freePort() throws -> Int {
    try Connection.freePort()
  }
}

extension Recording {
  var events: [Mark.Event] { marks.map(\.event) }
}
