import GateCore

// Values that are texts for now; with enums for failures, ends and notes these are of their cases for texts of old files.

extension Failure {
  static func text(_ subject: String, _ problem: String, place: SourcePlace? = nil, output: String = "") -> Failure {
    Failure(subject: subject, problem: problem, place: place, output: output)
  }
}

extension End {
  static func text(
    _ kind: Kind,
    code: Int? = nil,
    signal: Signal? = nil,
    proof: String? = nil,
    detail: String? = nil,
    oomKills: Int = 0
  ) -> End {
    End(kind, code: code, signal: signal, proof: proof, detail: detail, oomKills: oomKills)
  }
}

extension Note {
  static func machine(text: String) -> Note { .machine(text) }
}

extension RepetitionResult {
  mutating func addNote(_ text: String) { notes.append(text) }
}
