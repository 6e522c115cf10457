package import GateCore

/// Everything that was wrong with a project file and the files that it includes.
package struct ProjectError: DiagnosticError, Equatable {
  /// In the order of the files, and within a file in the order of its lines; never empty.
  package let diagnostics: [Diagnostic]

  init(_ diagnostics: [Diagnostic]) {
    precondition(!diagnostics.isEmpty, "a project error without a diagnostic would explain nothing")
    self.diagnostics = diagnostics
  }

  init(_ diagnostic: Diagnostic) {
    self.init([diagnostic])
  }
}

extension ProjectError: CustomStringConvertible {
  /// One diagnostic after the other, each with its hint.
  package var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }
}
