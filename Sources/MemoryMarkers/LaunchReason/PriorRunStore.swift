#if LaunchReason

import Glibc
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
  public var activity: Activity { Activity(record.activity) }
}

extension Activity {
  // Both enums have the same raw values.

  init(_ activity: LaunchRecord.Activity) {
    self = Self(rawValue: activity.rawValue) ?? .active
  }

  /// The same activity in a record.
  var recorded: LaunchRecord.Activity { LaunchRecord.Activity(rawValue: rawValue) ?? .active }
}

/// Keeps the record of a run for the next one.
///
/// Use ``FileRunStore`` unless the record must be kept elsewhere. Another store records neither exits nor signals, since
/// only a mapped file can be written while a process dies: call ``LaunchReason/noteExit()`` before each exit.
public protocol PriorRunStore: Sendable {
  /// The record of the previous run; nil if there is none.
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
  func save(_ run: PriorRun, durability: Durability) throws
}

/// Why a record cannot be read or written.
public enum RunStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Another process has locked it: an instance of this name is running.
  case heldByAnotherProcess
  /// The stored bytes are not a record.
  case corrupt
  /// It was written by another version of the library.
  case unknownVersion(UInt32)
  /// None of `STATE_DIRECTORY`, `XDG_STATE_HOME` and `HOME` is set.
  case noFolder
  /// A system call failed.
  case system(call: String, path: String, errno: Int32)

  /// One sentence.
  public var description: String {
    switch self {
    case .heldByAnotherProcess: "another process has locked the record"
    case .corrupt: "the record is damaged"
    case .unknownVersion(let version): "the record has the unknown version \(version)"
    case .noFolder: "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set"
    case .system(let call, let path, let code): "\(call) \(path): \(String(cString: strerror(code)))"
    }
  }
}

#endif
