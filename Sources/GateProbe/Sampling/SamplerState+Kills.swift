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
    // It may have been read as dead before its end was reported.
    let isCounted = process.lastResident > 0
    let held = tracked.map { (process: $0, resident: $0 === process ? $0.lastHeld : $0.lastResident) }
    let heaviest = held.filter { $0.resident > 0 }.sorted {
      ($1.resident, $0.process.pid) < ($0.resident, $1.process.pid)
    }
    kills.append(
      SeenKill(
        process: KilledProcess(
          id: process.pid, command: process.command,
          heaviest: heaviest.prefix(KilledProcess.mostHeavy).map {
            KilledProcess.Other(command: $0.process.command, resident: Bytes($0.resident))
          }, tree: Bytes(lastTree + (isCounted ? 0 : process.lastHeld))),
        firstSeen: process.firstSeen))
  }
}
