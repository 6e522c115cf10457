package import GateCore

/// Why a file could not be read, understood or written.
package struct FileError: DiagnosticError, Sendable, Equatable {
  /// What kind of trouble it was, to switch on.
  package enum Code: String, Sendable, CaseIterable {
    case notFound, unreadable, notAFile, tooLarge, malformed, wrongSchema, notWritable, noSpace, locked
  }

  package let code: Code
  package let path: String
  /// Where in the file, as `line:column`, where that is known.
  package let position: String?
  package let problem: String
  package let hint: String?

  package init(code: Code, path: String, position: String? = nil, problem: String, hint: String? = nil) {
    self.code = code
    self.path = path
    self.position = position
    self.problem = problem
    self.hint = hint
  }

  package var diagnostics: [Diagnostic] {
    let place = position.map { "\(path):\($0)" } ?? path
    return [Diagnostic(place: place, problem: problem, hint: hint)]
  }
}
