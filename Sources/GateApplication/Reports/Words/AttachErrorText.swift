import GateCore
import LinuxSystem

extension AttachError {
  /// As in `no process has the ID 4711`.
  var displayText: String {
    switch self {
    case .noProcess(let pid): "no process has the ID \(pid)"
    case .thread(let pid, let process): "\(pid) is the ID of a thread of process \(process)"
    case .ownProcess(let pid): "process \(pid) is Highwater itself, or has started it"
    case .noMemory(let pid): "process \(pid) has no memory: it has ended, or belongs to the kernel"
    case .noPidfile(let path): "cannot read the pidfile `\(path)`"
    case .noNumber(let path): "the pidfile `\(path)` does not contain a process ID"
    case .noCgroup(let path): "no cgroup has the path `\(path)`"
    case .emptyCgroup(let path): "the cgroup `\(path)` has no processes"
    case .ownCgroup(let path): "Highwater itself runs in the cgroup `\(path)`"
    case .unitNotRunning(let name, let state): "the unit `\(name)` has no processes: it is \(state)"
    case .noUnit(let name): "systemd has no unit `\(name)`"
    case .containerNotRunning(let name): "the container `\(name)` is not running"
    case .noTool(let names): "cannot find the target: no \(names.map { "`\($0)`" }.joined(separator: " or ")) in PATH"
    case .toolFailed(let tool, let line): "cannot find the target by `\(tool)`: \(line)"
    case .failed(let pid, let code): "cannot attach to process \(pid): \(ErrorNumber(code).text)"
    case .signalNotPermitted(let pid): "no signal may be sent to process \(pid), which belongs to another user"
    case .lost: "the process that followed the target was killed; the target was left running"
    }
  }

  /// A hint, if there is one.
  var hintText: String? {
    switch self {
    case .noProcess, .noPidfile, .noNumber, .emptyCgroup:
      "start the target first, in `setup` or a step of the job before"
    case .thread(_, let process): "write `pid: \(process)`"
    case .ownProcess: "only processes can be measured that do not include Highwater"
    case .ownCgroup: "run Highwater outside of it, or name the process by `pid`"
    case .unitNotRunning(let name, _): "`systemctl status \(ShellWords.quoted(name))` may show why"
    case .containerNotRunning(let name): "`podman logs \(ShellWords.quoted(name))`, or that of docker, may show why"
    case .noUnit: "a unit of the user's own manager is a `user-unit`"
    case .noTool: "name the process by `pid` or `pidfile`"
    case .failed: "`isolation: {tracer: off}` measures without attaching a tracer"
    case .noMemory, .noCgroup, .toolFailed, .signalNotPermitted, .lost: nil
    }
  }
}
