import GateCore

private import Glibc

/// Why the outbox cannot keep a message.
struct OutboxError: DiagnosticError, Equatable {
  enum Code: Equatable {
    case noFolder, full, tooLarge, badName, cannotWrite
  }

  let code: Code
  let problem: String
  let hint: String?

  init(_ code: Code, _ problem: String, hint: String? = nil) {
    self.code = code
    self.problem = problem
    self.hint = hint
  }

  /// An error with the system's own words for its present `errno`.
  static func system(_ code: Code, _ problem: String) -> OutboxError {
    OutboxError(code, "\(problem): \(String(cString: strerror(errno)))")
  }

  var diagnostics: [Diagnostic] {
    [Diagnostic(place: nil, problem: problem, hint: hint)]
  }
}
