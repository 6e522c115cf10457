package import GateCore

/// A use case that cannot go on.
package struct RunnerError: ExplainedError, Equatable {
  package let complaints: [Complaint]

  package init(_ complaints: [Complaint]) {
    self.complaints = complaints
  }

  package init(problem: String, place: String? = nil, hint: String? = nil) {
    self.init([Complaint(place: place, problem: problem, hint: hint)])
  }
}
