package import GateCore

/// Everything that was wrong with a project file and the files that it includes.
package struct ProjectError: ExplainedError, Equatable {
  /// In the order of the files, and within a file in the order of its lines; never empty.
  package let complaints: [Complaint]

  init(_ complaints: [Complaint]) {
    precondition(!complaints.isEmpty, "a project error without a complaint would explain nothing")
    self.complaints = complaints
  }

  init(_ complaint: Complaint) {
    self.init([complaint])
  }
}

extension ProjectError: CustomStringConvertible {
  /// One complaint after the other, each with its hint.
  package var description: String {
    complaints.map(\.description).joined(separator: "\n")
  }
}
