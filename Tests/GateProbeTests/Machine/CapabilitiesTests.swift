import GateCore
import Testing

@testable import GateProbe

@Suite("Measurement methods that a machine permits")
struct CapabilitiesTests {
  private func scenario(_ tracer: Isolation.Tracer, limit: Bytes? = nil) -> Scenario {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    scenario.isolation.tracer = tracer
    scenario.memoryLimit = limit
    return scenario
  }

  private static let noCgroup = MachineNote.noMemoryCgroup(error: .readOnly(folder: "/x"))

  private func capabilities(canTrace: Bool, hasMemory: Bool) -> Capabilities {
    let place = CgroupSite.Place(parent: "/x", version: .v2)
    let finding: CgroupSite.Finding = hasMemory ? .success(place) : .failure(.readOnly(folder: "/x"))
    return Capabilities(canTrace: canTrace, site: CgroupSite(memory: finding, freezer: .success(place)))
  }

  @Test(
    "The best available method is used, without a tracer if the scenario disables it",
    arguments: [
      (true, true, .auto, .tracedInCgroup), (true, false, .auto, .traced), (false, true, .auto, .sampledInCgroup),
      (false, false, .auto, .sampled), (true, true, .on, .tracedInCgroup), (true, true, .off, .sampledInCgroup),
      (true, false, .off, .sampled), (false, false, .off, .sampled),
    ] as [(Bool, Bool, Isolation.Tracer, MeasurementMethod)]
  )
  func methods(canTrace: Bool, hasMemory: Bool, tracer: Isolation.Tracer, method: MeasurementMethod) {
    #expect(capabilities(canTrace: canTrace, hasMemory: hasMemory).method(for: scenario(tracer)) == method)
  }

  @Test(
    "A method that the machine lacks causes a note, one that the scenario disables does not",
    arguments: [
      (true, true, .auto, []), (false, true, .auto, [.noTracing(barrier: .current)]),
      (true, false, .auto, [Self.noCgroup]),
      (false, false, .auto, [.noTracing(barrier: .current), Self.noCgroup]), (false, true, .off, []),
      (false, false, .off, [Self.noCgroup]),
    ] as [(Bool, Bool, Isolation.Tracer, [MachineNote])]
  )
  func notes(canTrace: Bool, hasMemory: Bool, tracer: Isolation.Tracer, notes: [MachineNote]) {
    #expect(capabilities(canTrace: canTrace, hasMemory: hasMemory).notes(for: scenario(tracer)) == notes)
  }

  @Test("Only requirements that the machine cannot meet are rejected")
  func requirements() {
    let none = capabilities(canTrace: false, hasMemory: false)
    let all = capabilities(canTrace: true, hasMemory: true)
    let scenarios = [scenario(.on), scenario(.auto, limit: .mebibytes(1))]
    #expect(scenarios.allSatisfy { all.unmetRequirement(of: $0) == nil })
    #expect(none.unmetRequirement(of: scenarios[0]) == .tracerUnavailable(barrier: .current))
    #expect(none.unmetRequirement(of: scenarios[1]) == .memoryLimitUnavailable(error: .readOnly(folder: "/x")))
    var limited = scenario(.auto)
    limited.limit = LimitRule(survives: .mebibytes(1))
    #expect(all.unmetRequirement(ofChecking: limited) == nil && none.unmetRequirement(of: limited) == nil)
    #expect(none.unmetRequirement(ofChecking: limited) == .limitUnavailable(error: .readOnly(folder: "/x")))
    #expect(none.unmetRequirement(of: scenario(.auto)) == nil && none.unmetRequirement(of: scenario(.off)) == nil)
  }

  @Test(
    "The likely cause of denied tracing is found",
    arguments: [
      (nil, 0, .unknown), ("0\n", 0, .unknown), ("1\n", 2, .seccomp), ("2\n", 2, .yama(scope: 2)),
      ("3\n", 0, .yama(scope: 3)),
    ] as [(String?, Int, TracingBarrier)]
  )
  func barriers(scope: String?, seccomp: Int, barrier: TracingBarrier) {
    let status = "Name:\tx\nSeccomp:\t\(seccomp)\nSeccomp_filters:\t2\n"
    #expect(TracingBarrier(scope: scope, status: status) == barrier)
  }

  @Test("This machine's method uses a cgroup if and only if one can be created")
  func real() {
    #expect(Capabilities.current.method(for: scenario(.off)).isInCgroup == TestCgroup.canCount)
    #expect(Machine.method(for: scenario(.auto)) == Capabilities.current.method(for: scenario(.auto)))
    let unmet = Capabilities.current.unmetRequirement(of: scenario(.auto, limit: .mebibytes(1)))
    #expect((unmet == nil) == TestCgroup.canCount)
  }
}
