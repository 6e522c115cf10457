/// A target that runs already: a scenario measures it, and neither starts nor ends it.
package enum RunningTarget: Sendable, Hashable {
  case pid(Int32)
  /// The absolute path of a file with the process ID.
  case pidfile(String)
  /// The absolute path of a cgroup's folder, or its path below the root of the hierarchy.
  case cgroup(String)
  /// A unit of systemd: of the system, or of the user's own manager.
  case unit(String, ofUser: Bool)
  /// A container of podman or docker, by its name or ID.
  case container(String)

  /// Its key of the project file.
  package var key: String {
    switch self {
    case .pid: "pid"
    case .pidfile: "pidfile"
    case .cgroup: "cgroup"
    case .unit(_, let ofUser): ofUser ? "user-unit" : "unit"
    case .container: "container"
    }
  }

  /// The value of the key.
  package var name: String {
    switch self {
    case .pid(let pid): "\(pid)"
    case .pidfile(let path), .cgroup(let path): path
    case .unit(let name, _), .container(let name): name
    }
  }

  /// Whether its processes are those of a cgroup.
  package var hasCgroup: Bool {
    switch self {
    case .pid, .pidfile: false
    case .cgroup, .unit, .container: true
    }
  }

  /// The variables of the runner with which tools find the user's own manager and containers.
  package static let variablesOfTools = [
    "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_CONFIG", "DOCKER_HOST", "XDG_RUNTIME_DIR",
  ]

  /// The target with a changed path.
  func map(_ change: (String) -> String) -> RunningTarget {
    switch self {
    case .pidfile(let path): .pidfile(change(path))
    case .cgroup(let path): .cgroup(change(path))
    case .pid, .unit, .container: self
    }
  }
}

extension Target {
  /// A target that runs already.
  package init(running: RunningTarget, workingDirectory: String) {
    self.init(command: .arguments([]), workingDirectory: workingDirectory)
    self.running = running
  }

  /// The command in one line, or what runs already, as in `unit: redis.service`.
  package var displayText: String {
    running.map { "\($0.key): \($0.name)" } ?? command.description
  }
}
