import GateCore
import Testing

@testable import GateProbe

@Suite("The ladder of measurement")
struct LadderTests {
  private func scenario(_ tracer: Isolation.Tracer, limit: Bytes? = nil) -> Scenario {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    scenario.isolation.tracer = tracer
    scenario.memoryLimit = limit
    return scenario
  }

  private func ladder(canTrace: Bool, hasMemory: Bool) -> Ladder {
    let place = CgroupSite.Place(parent: "/x", version: .v2)
    let finding: CgroupSite.Finding = hasMemory ? .success(place) : .failure(.readOnly(folder: "/x"))
    return Ladder(canTrace: canTrace, site: CgroupSite(memory: finding, freezer: .success(place)))
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
    #expect(ladder(canTrace: canTrace, hasMemory: hasMemory).method(for: scenario(tracer)) == method)
  }

  @Test(
    "Each lower method that the machine imposes has its note, and none that the scenario chose",
    arguments: [
      (true, true, .auto, 0), (false, true, .auto, 1), (true, false, .auto, 1), (false, false, .auto, 2),
      (false, true, .off, 0), (false, false, .off, 1),
    ] as [(Bool, Bool, Isolation.Tracer, Int)]
  )
  func notes(canTrace: Bool, hasMemory: Bool, tracer: Isolation.Tracer, count: Int) {
    let notes = ladder(canTrace: canTrace, hasMemory: hasMemory).notes(for: scenario(tracer))
    #expect(notes.count == count)
    #expect(notes.allSatisfy { $0.contains("(") && $0.contains("; ") }, "with cause and remedy")
  }

  @Test("What is demanded and cannot be had is a diagnostic, and nothing else is")
  func demands() {
    let poor = ladder(canTrace: false, hasMemory: false)
    let rich = ladder(canTrace: true, hasMemory: true)
    let demanding = [scenario(.on), scenario(.auto, limit: .mebibytes(1))]
    #expect(demanding.allSatisfy { rich.diagnostic(about: $0) == nil })
    #expect(poor.diagnostic(about: demanding[0])?.problem.hasPrefix("`tracer: on` cannot be had") == true)
    let limited = poor.diagnostic(about: demanding[1])
    #expect(
      limited?.problem == "`memory-limit` needs a memory cgroup, which cannot be made here: `/x` is mounted read-only")
    #expect(limited?.hint?.isEmpty == false)
    #expect(poor.diagnostic(about: scenario(.auto)) == nil && poor.diagnostic(about: scenario(.off)) == nil)
  }

  @Test(
    "The likely barrier to tracing is named",
    arguments: [
      (nil, 0, "the kernel refuses it"), ("0\n", 0, "the kernel refuses it"),
      ("1\n", 2, "a seccomp filter is in force"),
      ("2\n", 2, "kernel.yama.ptrace_scope is 2"), ("3\n", 0, "kernel.yama.ptrace_scope is 3"),
    ] as [(String?, Int, String)]
  )
  func barriers(scope: String?, seccomp: Int, cause: String) {
    let barrier = TraceBarrier(scope: scope, status: "Name:\tx\nSeccomp:\t\(seccomp)\nSeccomp_filters:\t2\n")
    #expect(barrier.cause == cause && !barrier.remedy.isEmpty)
  }

  @Test("This machine's method has a cgroup exactly where one can be made")
  func real() {
    #expect(Ladder.here.method(for: scenario(.off)).isInCgroup == MadeCgroup.canCount)
    #expect(Machine.method(for: scenario(.auto)) == Ladder.here.method(for: scenario(.auto)))
    #expect((Ladder.here.diagnostic(about: scenario(.auto, limit: .mebibytes(1))) == nil) == MadeCgroup.canCount)
  }
}
