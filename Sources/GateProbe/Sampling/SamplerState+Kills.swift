import GateCore
import Glibc

/// A process of the tree that SIGKILL ended.
struct SeenKill: Sendable {
  var process: KilledProcess
  /// When it was first seen, in nanoseconds since the start of the tree: its number was not yet used again.
  var firstSeen: Int64
}

extension SamplerState {
  private static let mostKills = 16

  /// Keeps which processes had most memory when SIGKILL ended one of them, unless Highwater sent it.
  mutating func noteKill(of process: TrackedProcess, _ status: WaitStatus, at time: Int64) {
    guard case .signaled(SIGKILL, _) = status, time < ownKills, kills.count < Self.mostKills else { return }
    let heaviest = tracked.filter { $0.lastResident > 0 }.sorted {
      ($1.lastResident, $0.pid) < ($0.lastResident, $1.pid)
    }
    kills.append(
      SeenKill(
        process: KilledProcess(
          id: process.pid, command: process.command,
          heaviest: heaviest.prefix(KilledProcess.mostHeavy).map {
            KilledProcess.Other(command: $0.command, resident: Bytes($0.lastResident))
          }, tree: Bytes(lastTree)),
        firstSeen: process.firstSeen))
  }
}
