import GateCore

/// Which of the processes is the program, where a build tool starts it.
extension SamplerState {
  /// Another process becomes the main one if it has this many times its memory: processes of equal size, such as the
  /// workers of a pool, do not take turns.
  private static let switchingFactor = 1.25

  /// Whether a process becomes the main one instead of another; a program always does so instead of its build tool.
  func isLarger(_ process: TrackedProcess, than largest: TrackedProcess?) -> Bool {
    if let tool {
      let isOtherOwn = largest.map { isOwn($0.pid, $0.command, of: tool) } ?? true
      guard isOwn(process.pid, process.command, of: tool) == isOtherOwn else {
        return isOtherOwn && process.lastResident > 0
      }
    }
    let factor = largest === main ? Self.switchingFactor : 1
    return Double(process.lastResident) > factor * Double(largest?.lastResident ?? 0)
  }

  /// The processes that may be the program: those that a build tool started besides its own, if there are any.
  func programs(among processes: [ProcessRecord]) -> [Int] {
    let all = Array(processes.indices)
    guard let tool else { return all }
    let others = all.filter { !isOwn(processes[$0], of: tool) }
    return others.isEmpty ? all : others
  }

  func isOwn(_ process: ProcessRecord, of tool: BuildTool) -> Bool { isOwn(process.id, process.command, of: tool) }

  private func isOwn(_ pid: Int32, _ command: String, of tool: BuildTool) -> Bool {
    pid == processTree.leader || tool.isOwn(command)
  }
}

extension [Sample] {
  /// Removes the memory of these processes, which are not the program.
  mutating func leaveOut(_ processes: [Int32]) {
    let others = Set(processes)
    for index in indices where others.contains(self[index].process) { self[index].main = nil }
  }
}
