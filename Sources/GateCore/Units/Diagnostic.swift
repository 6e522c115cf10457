/// One input error, as it is printed.
///
/// Texts begin in lower case and have no full stop; user text is in backticks.
package struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
  /// `file:line:column`, a path, or an option; nil if the error has no location.
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

/// An error with its location and a remedy.
package protocol DiagnosticError: Error {
  /// Never empty.
  var diagnostics: [Diagnostic] { get }
}
