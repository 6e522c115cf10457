import GateCore
import LinuxSystem

extension MachineRestriction {
  /// The error that ends a command, with its hint.
  var diagnostic: Diagnostic {
    switch self {
    case .noProc:
      Diagnostic(
        place: "/proc", problem: "not mounted; highwater reads memory usage from it", hint: "mount -t proc proc /proc")
    case .otherProc:
      Diagnostic(
        place: "/proc", problem: "it shows the processes of another PID namespace",
        hint: "mount one of this namespace, as `unshare --pid --fork --mount-proc` does")
    case .temporaryFolder(let failure):
      Diagnostic(
        place: failure.path, problem: "cannot create a temporary folder: \(ErrorNumber(failure.code).text)",
        hint: "set TMPDIR to a writable folder")
    case .tooFew(let resource, let needed):
      Diagnostic(problem: resource.problem(needed: needed), hint: resource.remedy)
    }
  }
}

extension MachineRestriction.Resource {
  fileprivate func problem(needed: Int) -> String {
    switch self {
    case .descriptors: "the limit of open files is too low: \(needed) more cannot be opened"
    case .processes: "process limit too low: \(needed) more needed"
    case .fileSize: "the limit of file sizes is below \(Bytes(Int64(needed)))"
    case .addressSpace: "the limit of memory is too low: \(Bytes(Int64(needed))) more cannot be reserved"
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .descriptors: "raise it (ulimit -n)"
    case .processes: "raise it (ulimit -u, or pids.max of the cgroup)"
    case .fileSize: "raise it (ulimit -f)"
    case .addressSpace: "raise it (ulimit -v, ulimit -d)"
    }
  }
}
