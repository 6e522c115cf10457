import GateCore
import LinuxSystem

/// The sources of a repetition's measurements besides `/proc`.
struct Instruments {
  /// The target's own cgroup; nil if the method uses none.
  let cgroup: Cgroup?
  let memoryWatch: MemoryWatch
  /// Receives a copy of the mappings when a traced target exits; nil also if the file could not be created.
  let lastMappings: Descriptor?
  /// Set for a profiled target.
  var profiler: Profiler?
  /// Set if instances are counted.
  var instances: InstanceCounter?
  /// Set if a self-check injects memory by a library.
  var mutation: MutationLibrary?
  /// Set if allocations are counted.
  var allocations: AllocationCounter?

  init(for scenario: Scenario, on method: MeasurementMethod) {
    cgroup = method.isInCgroup ? Cgroup(at: .current, limit: scenario.memoryLimit) : nil
    memoryWatch = MemoryWatch(cgroup: cgroup)
    lastMappings = method.isTraced ? LinuxCalls.anonymousFile(named: "highwater-mappings") : nil
  }

  /// Those of a target that runs already.
  init(ofRunning cgroup: Cgroup?) {
    self.cgroup = cgroup
    memoryWatch = MemoryWatch(cgroup: cgroup)
    lastMappings = nil
  }

  /// The composition of the target at its end, with the values read at that time; nil without a copy.
  func composition(with memory: MemoryReading) -> Composition? {
    guard let lastMappings, let copy = ProcFile(path: "/proc/self/fd/\(lastMappings.number)") else { return nil }
    return CompositionReader.composition(in: copy, with: memory)
  }
}
