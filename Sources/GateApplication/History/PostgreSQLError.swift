import GateCore

/// An error of PostgreSQL, or of the connection to it.
struct PostgreSQLError: Error {
  enum Kind: Equatable {
    /// The server's own error, with its code (`SQLSTATE`).
    case server(state: String)
    /// The connection was closed.
    case lost
    case unreachable
    case timeout
    /// An answer that no history has.
    case tooLarge
    case noLibrary
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) {
    (self.kind, self.message) = (kind, message)
  }

  init(timeout limit: Duration) {
    self.init(.timeout, "did not answer within \(limit.components.seconds) s")
  }

  /// A table or the schema is missing (`undefined_table`, `invalid_schema_name`).
  var isMissingTable: Bool { [.server(state: "42P01"), .server(state: "3F000")].contains(kind) }

  /// Whether another attempt may succeed at once: after a deadlock or a conflict of transactions.
  var isConflict: Bool { [.server(state: "40001"), .server(state: "40P01")].contains(kind) }

  /// Whether the server closed the connection, as when it is restarted (class 57P: operator intervention).
  var isDisconnection: Bool {
    if case .server(let state) = kind { return state.hasPrefix("57P") || state.hasPrefix("08") }
    return kind == .lost
  }
}

extension HistoryError {
  /// An error of PostgreSQL, in which `secrets` are hidden.
  init(_ error: PostgreSQLError, path: String, hiding secrets: [Secret]) {
    var message = error.message
    for secret in secrets.map(\.exposed) where !secret.isEmpty {
      message = message.replacing(secret, with: "(hidden)")
    }
    switch error.kind {
    case .noLibrary:
      self.init(
        code: .unavailable, path: path, problem: "cannot be used: `libpq.so.5` is not installed",
        hint: "install libpq, on Debian and Ubuntu the package `libpq5`")
    case .timeout: self.init(code: .busy, path: path, problem: message)
    case .tooLarge: self.init(code: .unavailable, path: path, problem: message, hint: "check the server's address")
    case .unreachable: self.init(code: .unavailable, path: path, problem: "cannot be reached: \(message)")
    case .lost: self.init(code: .unavailable, path: path, problem: "was disconnected: \(message)")
    case .server(let state): self.init(state: state, message: message, path: path)
    }
  }

  /// An error of the server; its codes are those of PostgreSQL's manual, appendix A.
  private init(state: String, message: String, path: String) {
    switch state {
    case "25006": self.init(code: .notWritable, path: path, problem: "is read-only: \(message)")
    case "42501":
      self.init(
        code: .notWritable, path: path, problem: "does not allow this: \(message)",
        hint: "the article `postgresql` has the privileges of each role")
    case "53100", "53000":
      self.init(code: .unavailable, path: path, problem: "has too little disk space or memory: \(message)")
    case "55P03", "57014": self.init(code: .busy, path: path, problem: "is too slow or locked: \(message)")
    default: self.init(code: .unavailable, path: path, problem: "cannot be used: \(message)")
    }
  }
}
