import GateCore
import Testing

@testable import GateProbe

@Suite("The ways of measurement that a machine allows")
struct CapabilitiesTests {
  private func scenario(_ tracer: Isolation.Tracer, limit: Bytes? = nil) -> Scenario {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    scenario.isolation.tracer = tracer
    scenario.memoryLimit = limit
    return scenario
  }

  private static let noCgroup = MachineNote.noMemoryCgroup(.readOnly(folder: "/x"))

  private func capabilities(canTrace: Bool, hasMemory: Bool) -> Capabilities {
    let place = CgroupSite.Place(parent: "/x", version: .v2)
    let finding: CgroupSite.Finding = hasMemory ? .success(place) : .failure(.readOnly(folder: "/x"))
    return Capabilities(canTrace: canTrace, site: CgroupSite(memory: finding, freezer: .success(place)))
  }

  @Test(
    "The best method that the machine allows is taken, unless the scenario wants no tracer",
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
    "Each lower method that the machine imposes has its note, and none that the scenario chose",
    arguments: [
      (true, true, .auto, []), (false, true, .auto, [.noTracing(.current)]), (true, false, .auto, [Self.noCgroup]),
      (false, false, .auto, [.noTracing(.current), Self.noCgroup]), (false, true, .off, []),
      (false, false, .off, [Self.noCgroup]),
    ] as [(Bool, Bool, Isolation.Tracer, [MachineNote])]
  )
  func notes(canTrace: Bool, hasMemory: Bool, tracer: Isolation.Tracer, notes: [MachineNote]) {
    #expect(capabilities(canTrace: canTrace, hasMemory: hasMemory).notes(for: scenario(tracer)) == notes)
  }

  @Test("What is demanded and not allowed is refused, and nothing else is")
  func demands() {
    let poor = capabilities(canTrace: false, hasMemory: false)
    let rich = capabilities(canTrace: true, hasMemory: true)
    let demanding = [scenario(.on), scenario(.auto, limit: .mebibytes(1))]
    #expect(demanding.allSatisfy { rich.unmetRequirement(of: $0) == nil })
    #expect(poor.unmetRequirement(of: demanding[0]) == .tracerUnavailable(.current))
    #expect(poor.unmetRequirement(of: demanding[1]) == .memoryLimitUnavailable(.readOnly(folder: "/x")))
    #expect(poor.unmetRequirement(of: scenario(.auto)) == nil && poor.unmetRequirement(of: scenario(.off)) == nil)
  }

  @Test(
    "The likely barrier to tracing is named",
    arguments: [
      (nil, 0, .unknown), ("0\n", 0, .unknown), ("1\n", 2, .seccomp), ("2\n", 2, .yama(scope: 2)),
      ("3\n", 0, .yama(scope: 3)),
    ] as [(String?, Int, TracingBarrier)]
  )
  func barriers(scope: String?, seccomp: Int, barrier: TracingBarrier) {
    let status = "Name:\tx\nSeccomp:\t\(seccomp)\nSeccomp_filters:\t2\n"
    #expect(TracingBarrier(scope: scope, status: status) == barrier)
  }

  @Test("This machine's method has a cgroup exactly where one can be made")
  func real() {
    #expect(Capabilities.current.method(for: scenario(.off)).isInCgroup == MadeCgroup.canCount)
    #expect(Machine.method(for: scenario(.auto)) == Capabilities.current.method(for: scenario(.auto)))
    #expect((Capabilities.current.unmetRequirement(of: scenario(.auto, limit: .mebibytes(1))) == nil) == MadeCgroup.canCount)
  }
}
