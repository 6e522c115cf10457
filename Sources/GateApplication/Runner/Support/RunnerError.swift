package import GateCore

/// An error that ends a command.
package struct RunnerError: DiagnosticError, Equatable {
  package let diagnostics: [Diagnostic]

  package init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
  }

  package init(problem: String, place: String? = nil, hint: String? = nil) {
    self.init([Diagnostic(place: place, problem: problem, hint: hint)])
  }
}
