#if LaunchReason

package import LaunchRecords

/// The record of a run; what it holds is the library's business, apart from these figures.
public struct PriorRun: Sendable, Hashable {
  package var record: LaunchRecord

  package init(_ record: LaunchRecord) {
    self.record = record
  }

  /// Hashes what tells a run from another.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(record.tag)
  }

  /// The process of the run.
  public var processID: Int32 { record.surroundings.pid }

  /// The program's version, as it was told.
  public var appVersion: String { record.surroundings.appVersion }

  /// What the program did last.
  public var activity: Activity { Activity(record.activity) }
}

extension Activity {
  init(_ activity: LaunchRecord.Activity) {
    switch activity {
    case .starting: self = .starting
    case .active: self = .active
    case .idle: self = .idle
    case .stopping: self = .stopping
    }
  }

  /// The activity as it is recorded.
  var recorded: LaunchRecord.Activity {
    switch self {
    case .starting: .starting
    case .active: .active
    case .idle: .idle
    case .stopping: .stopping
    }
  }
}

/// Keeps the record of a run for the next one.
///
/// ``FileRunStore`` is the one to use; another one may keep it elsewhere, but sees neither exits nor signals, since
/// only a mapped file can be written while a process dies: call ``LaunchReason/noteExit()`` before each exit.
public protocol PriorRunStore: Sendable {
  /// The record that the run before has left; nil where there is none.
  ///
  /// - Returns: The record, or nil.
  /// - Throws: ``RunStoreError``, or an error of the store's own. Where it is
  ///   ``RunStoreError/corrupt`` or ``RunStoreError/unknownVersion(_:)``, the new run is recorded all the same.
  func load() throws -> PriorRun?

  /// Replaces the record by this one; called for each change and each heartbeat, by one thread at a time.
  ///
  /// - Parameters:
  ///   - run: The record of this run as it is now.
  ///   - durability: What it must outlast.
  /// - Throws: An error of the store; nothing is saved any more then.
  func save(_ run: PriorRun, durability: Durability) throws
}

/// Why a record cannot be had.
public enum RunStoreError: Error, Equatable, Sendable {
  /// Another process has it, so an instance of this name runs.
  case heldByAnotherProcess
  /// What is stored is no record.
  case corrupt
  /// Another version of the library has written it.
  case unknownVersion(UInt32)
  /// None of `STATE_DIRECTORY`, `XDG_STATE_HOME` and `HOME` is set.
  case noFolder
  /// A call to the system failed.
  case system(call: String, path: String, errno: Int32)
}

#endif
