/// A target that is attached to.
///
/// It runs already, and a scenario neither starts nor ends it; only a container of an ``image`` is its own.
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
  /// A container that each repetition creates, starts, stops and removes.
  case image(ContainerImage)

  /// Whether a scenario starts and ends it.
  package var isOwn: Bool {
    if case .image = self { true } else { false }
  }

  /// Its key of the project file.
  package var key: String {
    switch self {
    case .pid: "pid"
    case .pidfile: "pidfile"
    case .cgroup: "cgroup"
    case .unit(_, let ofUser): ofUser ? "user-unit" : "unit"
    case .container: "container"
    case .image: "image"
    }
  }

  /// The value of the key.
  package var name: String {
    switch self {
    case .pid(let pid): "\(pid)"
    case .pidfile(let path), .cgroup(let path): path
    case .unit(let name, _), .container(let name): name
    case .image(let image): (image.options + [image.name] + image.arguments).joined(separator: " ")
    }
  }

  /// Whether its processes are those of a cgroup.
  package var hasCgroup: Bool {
    switch self {
    case .pid, .pidfile: false
    case .cgroup, .unit, .container, .image: true
    }
  }

  /// The variables of the runner with which tools find the user's own manager and containers.
  package static let variablesOfTools = [
    "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_CONFIG", "DOCKER_HOST", "XDG_RUNTIME_DIR",
  ]

  /// The target with each path and word changed.
  func map(_ change: (String) -> String) -> RunningTarget {
    switch self {
    case .image(let image): .image(image.map(change))
    case .pidfile(let path): .pidfile(change(path))
    case .cgroup(let path): .cgroup(change(path))
    case .pid, .unit, .container: self
    }
  }
}

/// What a container is created from.
package struct ContainerImage: Sendable, Hashable {
  /// As podman and docker have it, such as `docker.io/library/redis:7`.
  package var name: String
  /// The arguments behind the image, which replace its command.
  package var arguments: [String] = []
  /// The options of `podman create` and `docker create`, such as `--publish`.
  package var options: [String] = []

  package init(name: String) { self.name = name }

  fileprivate func map(_ change: (String) -> String) -> ContainerImage {
    var changed = self
    (changed.arguments, changed.options) = (arguments.map(change), options.map(change))
    return changed
  }
}

extension Target {
  /// A target that is attached to.
  package init(running: RunningTarget, workingDirectory: String) {
    self.init(command: .arguments([]), workingDirectory: workingDirectory)
    self.running = running
  }

  /// Whether a scenario neither starts nor ends it.
  package var runsAlready: Bool { running.map { !$0.isOwn } ?? false }

  /// The command in one line, or what runs already, as in `unit: redis.service`.
  package var displayText: String {
    running.map { "\($0.key): \($0.name)" } ?? command.description
  }
}
