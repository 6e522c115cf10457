/// Why no cgroup of our own can be made, or used.
enum CgroupRefusal: Error, Sendable, Equatable {
  /// No hierarchy is mounted, or what is mounted does not hold the runner's own cgroup.
  case notMounted
  /// The controller is neither mounted (v1) nor given to the folder's cgroup (v2).
  case noMemoryController(folder: String)
  /// The kernel is older than the file, which came with 5.2 (`cgroup.freeze`).
  case noFile(String, folder: String)
  case readOnly(folder: String)
  case notPermitted(folder: String)
  /// A v2 cgroup that has processes cannot hand its memory controller to cgroups below it.
  case internalProcesses(folder: String)
  case failed(folder: String, code: Int32)

  init(code: Int32, folder: String) {
    switch code {
    case LinuxCalls.Code.readOnly: self = .readOnly(folder: folder)
    case LinuxCalls.Code.accessDenied, LinuxCalls.Code.notPermitted: self = .notPermitted(folder: folder)
    default: self = .failed(folder: folder, code: code)
    }
  }

  /// The cause, as a part of a sentence.
  var cause: String {
    switch self {
    case .notMounted: "no cgroup hierarchy that holds the runner is mounted"
    case .noMemoryController(let folder): "`\(folder)` has no memory controller"
    case .noFile(let file, let folder): "`\(folder)` has no `\(file)`"
    case .readOnly(let folder): "`\(folder)` is mounted read-only"
    case .notPermitted(let folder): "no permission to make a cgroup in `\(folder)`"
    case .internalProcesses(let folder): "`\(folder)` has processes, so that it cannot hand its memory controller on"
    case .failed(let folder, let code): "no cgroup can be used in `\(folder)`: \(LinuxCalls.words(forError: code))"
    }
  }

  /// What a person can do about it, as a part of a sentence.
  var remedy: String {
    switch self {
    case .notMounted: "mount /sys/fs/cgroup into the container"
    case .noMemoryController: "hand the memory controller to this cgroup (cgroup.subtree_control of the one above)"
    case .noFile: "a kernel from 5.2 on has it"
    case .readOnly: "mount it writable, as a privileged container does"
    case .notPermitted: "run as root, or in a delegated cgroup, as in `systemd-run --user --scope -p Delegate=yes`"
    case .internalProcesses:
      "run in a cgroup beneath a writable one that has memory in its cgroup.subtree_control"
    case .failed: "see cgroups(7)"
    }
  }
}
