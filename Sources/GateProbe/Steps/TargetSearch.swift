import GateCore
import Glibc
import LinuxSystem

/// A program that manages containers; in the order in which they are tried.
enum ContainerEngine: String, CaseIterable {
  case podman, docker
}

/// Finds the processes of a target that is attached to.
///
/// Only units and containers need a tool: `run` runs one in a repetition, and returns what it printed, or nil if there is no
/// such program.
struct TargetSearch<Failure: Error> {
  let run: (Command) throws(Failure) -> ToolAnswer?
  let fail: (AttachError) -> Failure
  /// The container that was created for an image.
  var created: String?

  /// How a tool ended, and the last lines that it printed.
  typealias ToolAnswer = (isSuccess: Bool, output: String)

  func processes(of target: RunningTarget) throws(Failure) -> AttachedProcesses {
    let found: AttachedProcesses
    switch target {
    case .pid(let pid): found = AttachedProcesses(leader: pid, folder: nil)
    case .pidfile(let path): found = AttachedProcesses(leader: try number(in: path), folder: nil)
    case .cgroup(let path): found = try cgroup(CgroupFolder.path(of: path), named: path)
    case .unit(let name, let ofUser): found = try unit(name, ofUser: ofUser)
    case .container(let name): found = try container(name)
    case .image(let image): found = try container(created ?? image.name)
    }
    if let problem = Self.problem(with: found) { throw fail(problem) }
    return found
  }

  private func number(in path: String) throws(Failure) -> Int32 {
    guard let text = SmallFile.text(at: path, atMost: 64) else { throw fail(.noPidfile(path: path)) }
    guard let pid = MainProcessFinder.number(in: text) else { throw fail(.noNumber(path: path)) }
    return pid
  }

  private func cgroup(_ folder: String?, named path: String, leader: Int32? = nil) throws(Failure) -> AttachedProcesses
  {
    guard let folder else { throw fail(.noCgroup(path: path)) }
    let members = AttachedProcesses.members(ofCgroup: folder)
    if members.contains(getpid()) { throw fail(.ownCgroup(path: path)) }
    guard let leader = leader ?? AttachedProcesses.leader(among: members) else { throw fail(.emptyCgroup(path: path)) }
    return AttachedProcesses(leader: leader, folder: folder)
  }

  // MARK: Tools

  private func unit(_ name: String, ofUser: Bool) throws(Failure) -> AttachedProcesses {
    let words =
      ["systemctl"] + (ofUser ? ["--user"] : [])
      + ["show", "--no-pager", "--property=LoadState,ActiveState,MainPID,ControlGroup", "--", name]
    guard let answer = try run(.arguments(words)) else { throw fail(.noTool(names: ["systemctl"])) }
    guard answer.isSuccess else { throw fail(.toolFailed(tool: "systemctl show", line: answer.output.lastLine)) }
    let unit = UnitState(parsing: answer.output)
    guard unit.isLoaded else { throw fail(.noUnit(name: name)) }
    guard !unit.cgroup.isEmpty else { throw fail(.unitNotRunning(name: name, state: unit.activity)) }
    return try cgroup(CgroupFolder.path(of: unit.cgroup), named: unit.cgroup, leader: unit.main)
  }

  private func container(_ name: String) throws(Failure) -> AttachedProcesses {
    var first: (tool: String, answer: ToolAnswer)?
    for tool in ContainerEngine.allCases.map(\.rawValue) {
      let words = [tool, "inspect", "--type", "container", "--format", "pid={{.State.Pid}}\nid={{.Id}}", "--", name]
      guard let answer = try run(.arguments(words)) else { continue }
      first = first ?? (tool, answer)
      guard answer.isSuccess else { continue }
      func value(_ key: String) -> Substring? {
        answer.output.split(separator: "\n").last { $0.hasPrefix(key) }?.dropFirst(key.count)
      }
      guard let pid = value("pid=").flatMap({ Int32($0) }), pid > 0 else {
        throw fail(.containerNotRunning(name: name))
      }
      let folder = CgroupFolder.own(of: pid).map { CgroupFolder.container(value("id=") ?? "", of: $0) }
      return AttachedProcesses(leader: pid, folder: folder)
    }
    guard let first else { throw fail(.noTool(names: ContainerEngine.allCases.map(\.rawValue))) }
    throw fail(.toolFailed(tool: "\(first.tool) inspect", line: first.answer.output.lastLine))
  }

  // MARK: Checks

  /// Why the processes cannot be measured; nil if they can.
  private static func problem(with found: AttachedProcesses) -> AttachError? {
    let pid = found.leader
    guard let stat = pid > 0 ? ProcessStat(of: pid) : nil else { return .noProcess(pid: pid) }
    if let process = process(ofThread: pid), process != pid { return .thread(pid: pid, process: process) }
    let status = SmallFile.bytes(at: "/proc/\(pid)/status") ?? []
    let hasMemory = status.withUnsafeBytes { ProcText.memory(inStatus: $0) } != nil
    guard stat.isAlive, hasMemory else { return .noMemory(pid: pid) }
    return found.contains(getpid()) ? .ownProcess(pid: pid) : nil
  }

  /// The process of a thread, which `/proc` shows as well under the thread's number.
  private static func process(ofThread pid: Int32) -> Int32? {
    let line = (SmallFile.text(at: "/proc/\(pid)/status") ?? "").split(separator: "\n").first { $0.hasPrefix("Tgid:") }
    return line.flatMap { Int32($0.dropFirst(5).drop(while: \.isWhitespace)) }
  }
}

extension String {
  var lastLine: String { split(separator: "\n").last.map(String.init) ?? "" }
}

/// What `systemctl show` prints of a unit.
struct UnitState: Equatable {
  var isLoaded = false
  /// As in `active` or `inactive`.
  var activity = ""
  /// nil if systemd knows none.
  var main: Int32?
  /// Its cgroup below the root of the hierarchy; empty if it has no processes.
  var cgroup = ""

  init(parsing text: String) {
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = String(line[line.index(after: equals)...])
      switch line[..<equals] {
      case "LoadState": isLoaded = value == "loaded"
      case "ActiveState": activity = value
      case "MainPID": main = Int32(value).flatMap { $0 > 0 ? $0 : nil }
      case "ControlGroup": cgroup = value
      default: break
      }
    }
  }
}
