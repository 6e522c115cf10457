/// One thing that was wrong with what the program was given, for a person.
///
/// Words are lower case and have no full stop; the user's own text stands in backticks.
package struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// `file:line:column`, a path, or an option; nil where there is no place to point at.
  package var place: String?
  package var problem: String
  /// What would heal it.
  package var hint: String?

  package init(place: String? = nil, problem: String, hint: String? = nil) {
    self.place = place
    self.problem = problem
    self.hint = hint
  }

  /// `place: error: problem`, and the hint on a line of its own.
  package var description: String {
    let first = (place.map { "\($0): " } ?? "") + "error: \(problem)"
    return hint.map { "\(first)\n  hint: \($0)" } ?? first
  }
}

/// An error that can tell a person what was wrong, where, and what to do.
package protocol DiagnosticError: Error {
  /// Never empty.
  var diagnostics: [Diagnostic] { get }
}
