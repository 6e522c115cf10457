/// Who sent SIGKILL to a process.
package struct KillSender: Sendable, Hashable, Codable {
  /// nil for the kernel itself.
  package var process: Int32?
  /// The kernel's name of that process (`comm`); nil if it had ended before it could be read.
  package var command: String?
  /// Whether that process is one of the target's own.
  package var isOfTarget: Bool

  package init(process: Int32?, command: String?, isOfTarget: Bool) {
    (self.process, self.command, self.isOfTarget) = (process, command, isOfTarget)
  }
}

/// A process of the target that SIGKILL ended, which Highwater did not send.
package struct KilledProcess: Sendable, Hashable, Codable {
  /// A living process at that time.
  package struct Other: Sendable, Hashable, Codable {
    package var command: String
    package var resident: Bytes

    package init(command: String, resident: Bytes) {
      (self.command, self.resident) = (command, resident)
    }
  }

  package var id: Int32
  package var command: String
  /// nil if the kernel does not tell.
  package var sender: KillSender?
  /// The processes with most memory at that time, which may include itself; at most ``mostHeavy``.
  package var heaviest: [Other]
  /// The memory of the tree at the last reading before.
  package var tree: Bytes
  /// The lowest limit of a cgroup at or above the target; nil if there is none.
  package var limit: Bytes?
  /// The memory of the machine.
  package var machine: Bytes?

  package static let mostHeavy = 3

  package init(id: Int32, command: String, heaviest: [Other], tree: Bytes) {
    (self.id, self.command, self.heaviest, self.tree) = (id, command, heaviest, tree)
  }
}
