/// One process of the target's tree.
package struct ProcessRecord: Sendable, Equatable, Codable {
  package var id: Int32
  package var parent: Int32
  /// The kernel's name of the process (`comm`), at most 15 bytes.
  package var command: String
  package var isMain: Bool
  /// The highest memory of the process, over all programs that it executed.
  package var peak: Bytes
  package var firstSeen: Duration
  package var lastSeen: Duration
  /// Whether its high-water mark was read at its exit, so that nothing was missed.
  package var isExact: Bool
  /// How it ended; nil if it was not seen to end.
  package var ending: EndEvidence.Status?
  /// How many programs the tracer has seen it execute; not stored.
  package var programs = 0

  /// Whether it is a client of a daemon or of another machine, which runs programs on its behalf.
  package var isClientOfRunner: Bool { Self.clientsOfRunners.contains(command) }

  private static let clientsOfRunners: Set = [
    "docker", "docker-compose", "nerdctl", "podman-remote", "kubectl", "oc", "lxc", "incus", "virsh", "machinectl",
    "systemctl", "systemd-run", "ssh",
  ]

  package init(
    id: Int32,
    parent: Int32,
    command: String,
    isMain: Bool,
    peak: Bytes,
    firstSeen: Duration,
    lastSeen: Duration,
    isExact: Bool = false,
    ending: EndEvidence.Status? = nil
  ) {
    self.id = id
    self.parent = parent
    self.command = command
    self.isMain = isMain
    self.peak = peak
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
    self.isExact = isExact
    self.ending = ending
  }
}
