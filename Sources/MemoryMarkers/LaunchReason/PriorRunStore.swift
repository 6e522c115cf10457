#if LaunchReason

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
package import LaunchRecords

/// The record of a run; its format is private to the library, apart from these properties.
public struct PriorRun: Sendable, Hashable {
  package var record: LaunchRecord

  package init(_ record: LaunchRecord) {
    self.record = record
  }

  /// Hashes what identifies a run.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(record.tag)
  }

  /// The process of the run.
  public var processID: Int32 { record.run.pid }

  /// The program's version, as it was passed to ``LaunchReason``.
  public var appVersion: String { record.run.appVersion }

  /// The last activity of the program.
  public var activity: LaunchReason.Activity { LaunchReason.Activity(record.activity) }

  // What the program knew at its last heartbeat.

  /// When that was, in seconds since 1970.
  public var lastSeen: Double { Double(record.last.wallTime) / 1e9 }

  /// The resident memory, in bytes.
  public var resident: UInt64 { record.last.resident }

  /// The highest resident memory so far, in bytes.
  public var peakResident: UInt64 { record.last.peakResident }

  /// The lowest limit of the cgroup and its ancestors, in bytes; nil if there was none.
  public var memoryLimit: UInt64? { record.last.limit }
}

extension LaunchReason.Activity {
  // Both enums have the same raw values.

  init(_ activity: LaunchRecord.Activity) {
    self = Self(rawValue: activity.rawValue) ?? .active
  }

  /// The same activity in a record.
  var recorded: LaunchRecord.Activity { LaunchRecord.Activity(rawValue: rawValue) ?? .active }
}

/// Keeps the record of a run for the next one, and decides which run is the previous one.
///
/// Use ``FileRunStore`` unless the record must be kept elsewhere. Another store records neither exits nor signals, since
/// only a mapped file can be written while a process dies: call ``LaunchReason/noteExit()`` before each exit.
public protocol PriorRunStore: Sendable {
  /// The record of the run that was started last; nil if there is none.
  ///
  /// - Returns: The record, or nil.
  /// - Throws: ``RunStoreError``, or an error of the store's own. After ``RunStoreError/corrupt`` and
  ///   ``RunStoreError/unknownVersion(_:)`` the new run is recorded nevertheless.
  func load() throws -> PriorRun?

  /// Replaces the record; called for each change and each heartbeat, by one thread at a time.
  ///
  /// - Parameters:
  ///   - run: The record of this run as it is now.
  ///   - durability: What it must survive.
  /// - Throws: An error of the store; nothing is saved after it.
  func save(_ run: PriorRun, durability: LaunchReason.Durability) throws
}

/// Why a record cannot be read or written.
public enum RunStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The run that was started last is still alive; this one has a record of its own.
  case heldByAnotherProcess
  /// The stored bytes are not a record.
  case corrupt
  /// The file is not a record, and is not overwritten.
  case foreign(path: String)
  /// It was written by another version of the library.
  case unknownVersion(UInt32)
  /// None of `STATE_DIRECTORY`, `XDG_STATE_HOME` and `HOME` is an absolute path.
  case noFolder
  /// A system call failed.
  case system(call: String, path: String, errno: Int32)

  /// One sentence.
  public var description: String {
    switch self {
    case .heldByAnotherProcess: "another process has locked the record"
    case .corrupt: "the record is damaged"
    case .foreign(let path): "\(path) is not a launch record: remove it, or name another instance"
    case .unknownVersion(let version): "the record has the unknown version \(version)"
    case .noFolder: "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is an absolute path"
    case .system(let call, let path, let code): "\(call) \(path): \(String(cString: strerror(code)))"
    }
  }
}

#endif
