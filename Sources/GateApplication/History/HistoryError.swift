package import GateCore
import GRDB

/// A history that could not be read or written.
package struct HistoryError: DiagnosticError, Equatable {
  package enum Code: Sendable {
    /// It cannot be opened, read or written: no such folder, no permission, a full disk.
    case unavailable
    /// SQLite cannot write the file, or beside it.
    case notWritable
    /// The file is not a database, or its contents are inconsistent.
    case damaged
    /// The file is not a history, or the database of another program.
    case foreign
    /// Another version of this program wrote it.
    case otherVersion
    /// Other processes locked it for too long.
    case busy
  }

  package var code: Code
  package var path: String
  package var problem: String
  package var hint: String?

  package var diagnostics: [Diagnostic] {
    [Diagnostic(place: path, problem: problem, hint: hint)]
  }

  /// Whether the file is not a history, so that a new one may take its place.
  var isUnusable: Bool { code == .damaged || code == .foreign }
}

extension HistoryError {
  static func foreign(_ path: String, _ problem: String = "is a database of another program") -> Self {
    Self(code: .foreign, path: path, problem: problem, hint: "name another file as `history`")
  }

  static func otherVersion(_ path: String, version: Int, known: Int = SQLiteSchema.version) -> Self {
    Self(
      code: .otherVersion, path: path,
      problem: "is a history of version \(version); this \(Tool.name) reads version \(known)",
      hint: "use the version of \(Tool.name) that wrote it, or name another `history`"
    )
  }

  static func damaged(_ path: String, _ problem: String) -> Self {
    Self(
      code: .damaged, path: path, problem: "is damaged: \(problem)",
      hint: "the next `\(Tool.name) check` renames it and creates a new one")
  }

  static let accessHint = "let this user read and write the file and its folder, or name another file as `history`"

  static func busy(_ path: String) -> Self {
    Self(code: .busy, path: path, problem: "is locked by another process", hint: "try again when that has ended")
  }

  /// Describes an error of SQLite without the statement and its arguments.
  init(_ error: any Error, path: String) {
    if let own = error as? HistoryError {
      self = own
      return
    }
    if let error = error as? DamagedRow {
      self = .damaged(path, error.problem)
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(code: .unavailable, path: path, problem: "cannot be used: \(error)")
      return
    }
    let reported = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
      self = .damaged(path, reported)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self = .busy(path)
    case .SQLITE_READONLY, .SQLITE_CANTOPEN:
      self.init(
        code: .notWritable, path: path, problem: "cannot be used: \(reported)",
        hint: Self.accessHint)
    case .SQLITE_FULL:
      self.init(code: .unavailable, path: path, problem: "cannot be written: the disk is full")
    default:
      self.init(code: .unavailable, path: path, problem: "cannot be used: \(reported)")
    }
  }
}
