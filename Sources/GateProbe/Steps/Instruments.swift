import GateCore
import LinuxSystem

/// What a repetition is measured with, besides readings of `/proc`.
struct Instruments {
  /// The target's own cgroup; nil where the method has none.
  let cgroup: Cgroup?
  /// Watches for the OOM killer.
  let memoryWatch: MemoryWatch
  /// Takes a copy of the target's mappings at its end, where it is traced; nil also where no file could be made.
  let lastMappings: Descriptor?

  init(for scenario: Scenario, on method: MeasurementMethod) {
    cgroup = method.isInCgroup ? Cgroup(at: .here, limit: scenario.memoryLimit) : nil
    memoryWatch = MemoryWatch(cgroup: cgroup)
    lastMappings = method.isTraced ? LinuxCalls.anonymousFile(named: "highwater-mappings") : nil
  }

  /// What the target consisted of at its end, with the values that were read then; nil where there is no copy.
  func composition(with memory: MemoryReading) -> Composition? {
    guard let lastMappings, let copy = ProcFile(path: "/proc/self/fd/\(lastMappings.number)") else { return nil }
    return CompositionReader.composition(in: copy, with: memory)
  }
}
