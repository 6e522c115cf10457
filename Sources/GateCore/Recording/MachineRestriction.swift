/// Why no target can be measured on this machine, found before one is started.
package enum MachineRestriction: Error, Sendable, Hashable {
  /// `/proc` is not mounted.
  case noProc
  /// `/proc` shows the processes of another PID namespace (pid_namespaces(7)).
  case otherProc
  /// No temporary folder can be created.
  case temporaryFolder(failure: SystemFailure)
  /// A limit of setrlimit(2), or of a cgroup, leaves too little.
  case tooFew(resource: Resource, needed: Int)

  package enum Resource: Sendable, Hashable {
    /// Open files.
    case descriptors
    /// Processes and threads together.
    case processes
    /// Bytes of a file.
    case fileSize
    /// Bytes of the address space.
    case addressSpace
  }
}
