package import GateCore
import GRDB

/// A history that could not be read or written.
package struct HistoryError: DiagnosticError, Equatable {
  package enum Code: Sendable {
    /// It cannot be opened, read or written: no such folder, no permission, a full disk.
    case unavailable
    /// SQLite cannot write the file, or beside it.
    case notWritable
    /// The file is no database, or what it holds contradicts itself.
    case damaged
    /// The file is the database of another program.
    case foreign
    /// A later version of this program wrote it.
    case newer
    /// Other processes kept it for themselves for too long.
    case busy
  }

  package var code: Code
  package var path: String
  package var problem: String
  package var hint: String?

  package var diagnostics: [Diagnostic] {
    [Diagnostic(place: path, problem: problem, hint: hint)]
  }

  /// Whether the file is of no use to this program, so that a new one may take its place.
  var isOfNoUse: Bool { code == .damaged || code == .foreign }
}

extension HistoryError {
  static func foreign(_ path: String) -> Self {
    Self(
      code: .foreign, path: path, problem: "is a database of another program", hint: "name another file as `history`")
  }

  static func newer(_ path: String, version: Int) -> Self {
    Self(
      code: .newer, path: path,
      problem: "is a history of version \(version), and this version of \(Tool.name) knows \(HistorySchema.version)",
      hint: "use the version of \(Tool.name) that wrote it, or a newer one"
    )
  }

  /// What SQLite's word means to a person; statements and their arguments stay out of it.
  init(_ error: any Error, path: String) {
    if let own = error as? HistoryError {
      self = own
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(code: .unavailable, path: path, problem: "cannot be used: \(error)")
      return
    }
    let reported = error.message ?? "SQLite's error \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
      self.init(
        code: .damaged, path: path, problem: "is damaged: \(reported)",
        hint: "the next `\(Tool.name) check` sets it aside and begins a new one"
      )
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(code: .busy, path: path, problem: "is in use by another process, which did not let go of it")
    case .SQLITE_READONLY, .SQLITE_CANTOPEN:
      self.init(code: .notWritable, path: path, problem: "cannot be used: \(reported)")
    case .SQLITE_FULL:
      self.init(code: .unavailable, path: path, problem: "cannot be written: the disk is full")
    default:
      self.init(code: .unavailable, path: path, problem: "cannot be used: \(reported)")
    }
  }
}
