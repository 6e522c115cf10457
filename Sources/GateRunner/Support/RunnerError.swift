package import GateCore

/// A use case that cannot go on.
package struct RunnerError: DiagnosticError, Equatable {
  package let diagnostics: [Diagnostic]

  package init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
  }

  package init(problem: String, place: String? = nil, hint: String? = nil) {
    self.init([Diagnostic(place: place, problem: problem, hint: hint)])
  }
}
