import GateCore
import LinuxSystem

extension LaunchRequest {
  /// Converts the request to a plan for a supervisor; the program is the file at `path`.
  func plan(executing path: String) throws(LaunchError) -> SupervisorPlan {
    SupervisorPlan(
      program: path,
      arguments: words,
      environment: try checkedEnvironment(),
      directory: workingDirectory,
      input: input,
      output: output,
      fixesAddresses: !isolation.randomAddresses && LinuxCalls.canFixAddresses,
      preventsHugePages: isolation.hugePages == .off,
      cpuMask: try cpuMask(),
      cpuCount: isolation.cpuCount,
      lock: lock?.number,
      isTraced: isTraced,
      ballast: Int(ballast.count),
      cgroupFolders: containment?.folders ?? [],
      joinedFolders: joined?.folders ?? [],
      cgroupSettings: containment?.settings.flatMap { [$0.file, $0.text] } ?? [],
      beforeKilling: containment?.beforeKilling.flatMap { [$0.file, $0.text] } ?? [],
      mappings: mappings,
      profile: profiler?.output.number,
      ring: profiler?.ring.number,
      samplingInterval: profiler?.interval.count ?? 0
    )
  }

  /// The environment as `NAME=VALUE` strings; rejects names and words that execve(2) cannot represent.
  private func checkedEnvironment() throws(LaunchError) -> [String] {
    if let name = environment.keys.first(where: { $0.isEmpty || $0.utf8.contains(UInt8(ascii: "=")) }) {
      throw LaunchError(.arguments, .invalidVariable(name: name), program: program)
    }
    let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
    guard !(words + variables + [workingDirectory]).contains(where: { $0.utf8.contains(0) }) else {
      throw LaunchError(.arguments, .zeroByte, program: program)
    }
    return variables
  }

  /// What a target uses that sees fewer CPUs than the machine has: as many.
  private var fewerCPUs: [Int]? {
    let usable = LinuxCalls.usableCPUs()
    return isolation.cpuCount.flatMap { $0 < usable.count ? Array(usable.prefix($0)) : nil }
  }

  private func cpuMask() throws(LaunchError) -> [UInt] {
    guard let cpus = isolation.cpus ?? fewerCPUs else { return [] }
    guard let last = cpus.max(), last < 8192, cpus.allSatisfy({ $0 >= 0 }) else {
      throw LaunchError(.cpus, code: LinuxCalls.Code.invalid, request: self)
    }
    var mask = [UInt](repeating: 0, count: last / UInt.bitWidth + 1)
    for cpu in cpus { mask[cpu / UInt.bitWidth] |= 1 << UInt(cpu % UInt.bitWidth) }
    return mask
  }
}
