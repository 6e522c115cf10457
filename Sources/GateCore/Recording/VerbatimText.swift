// What files of texts hold; see `verbatim` in GateReports for values that hold more.

extension End {
  /// The text of a cause that is no more than that.
  package var causeText: String? {
    if case .verbatim(let text)? = cause { text } else { nil }
  }

  /// The text of a proof that is no more than that.
  package var proofLine: String? {
    if case .verbatim(let text)? = proof { text } else { nil }
  }
}

extension RecordingNote {
  package var verbatimText: String? {
    if case .verbatim(let text) = self { text } else { nil }
  }
}

extension Failure {
  package var verbatimSubject: String? {
    part?.kind == .verbatim ? part?.text : nil
  }

  package var verbatimProblem: String? {
    if case .verbatim(let text, _) = problem { text } else { nil }
  }

  /// A failure of which there are texts only.
  package init(subject: String, problem: String, place: SourcePlace? = nil, output: String = "") {
    self.init(
      part: Part(.verbatim, text: subject), problem: .verbatim(problem, isInconclusive: false), place: place,
      output: output
    )
  }
}
