import GateCore
import Glibc

extension Machine {
  /// Descriptors of a repetition with several clients: a target takes some 20, each client 6.
  private static let descriptors = 32

  /// The threads and supervisors of a repetition take 6; the others are for the processes of targets and clients.
  private static let processes = 16

  /// As much of a target's output is stored.
  private static let fileSize = Bytes.mebibytes(16)

  /// The stacks of up to five threads (8 MiB each), and twice the heap of a check (release build, 2026-11).
  private static let addressSpace = Bytes.mebibytes(96)

  /// Why no target can be measured here; nil if it can be.
  static func restriction() -> MachineRestriction? {
    guard LinuxCalls.canReserve(addressSpace) else {
      return .tooFew(resource: .addressSpace, needed: Int(addressSpace.count))
    }
    guard LinuxCalls.canOpenFiles(descriptors) else { return .tooFew(resource: .descriptors, needed: descriptors) }
    guard let own = SmallFile.text(at: "/proc/self/stat") else { return .noProc }
    guard own.prefix(while: { $0 != " " }) == "\(getpid())" else { return .otherProc }
    guard LinuxCalls.canCreateProcesses(processes) else { return .tooFew(resource: .processes, needed: processes) }
    if let limit = ResourceLimit.fileSize, limit < fileSize {
      return .tooFew(resource: .fileSize, needed: Int(fileSize.count))
    }
    return nil
  }
}
