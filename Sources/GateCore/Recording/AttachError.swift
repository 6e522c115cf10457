/// Why a target that runs already cannot be measured.
package enum AttachError: Error, Sendable, Hashable, Codable {
  case noProcess(pid: Int32)
  /// The number is that of a thread.
  case thread(pid: Int32, process: Int32)
  /// Highwater itself, or a process that started it.
  case ownProcess(pid: Int32)
  /// It has no memory of its own: a thread of the kernel, or a process that has ended and was not reaped.
  case noMemory(pid: Int32)
  /// The file has no process ID.
  case noNumber(path: String)
  case noPidfile(path: String)
  case noCgroup(path: String)
  case emptyCgroup(path: String)
  /// The cgroup has Highwater in it.
  case ownCgroup(path: String)
  /// The unit has no process: its state, such as `inactive`.
  case unitNotRunning(name: String, state: String)
  case noUnit(name: String)
  case containerNotRunning(name: String)
  /// None of the tools that could find it can be run.
  case noTool(names: [String])
  /// The last line of what the tool printed.
  case toolFailed(tool: String, line: String)
  /// The system call that attaches failed, with this `errno`.
  case failed(pid: Int32, code: Int32)
  /// A signal may not be sent to it.
  case signalNotPermitted(pid: Int32)
  /// What followed the target was killed; the target itself runs on.
  case lost
}
