/// One error in the input of the program, as it is printed.
///
/// Texts begin in lower case and have no full stop; text of the user is in backticks.
package struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// `file:line:column`, a path, or an option; nil where the error has no place.
  package var place: String?
  package var problem: String
  /// How to fix it.
  package var hint: String?

  package init(place: String? = nil, problem: String, hint: String? = nil) {
    self.place = place
    self.problem = problem
    self.hint = hint
  }

  /// `place: error: problem`, and the hint on the next line.
  package var description: String {
    let first = (place.map { "\($0): " } ?? "") + "error: \(problem)"
    return hint.map { "\(first)\n  hint: \($0)" } ?? first
  }
}

/// An error that says what is wrong, where, and what to do.
package protocol DiagnosticError: Error {
  /// Never empty.
  var diagnostics: [Diagnostic] { get }
}
