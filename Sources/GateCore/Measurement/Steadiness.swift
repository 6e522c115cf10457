/// Whether resident memory became steady, and if not, why not.
package enum Steadiness: String, Sendable, CaseIterable {
  /// It has a level.
  case steady
  /// It still moved in the last half of the run.
  case unsteady
  /// It rose or fell all the time, so that its median would be a matter of where the run was cut.
  case drifting
  /// Too few readings were made.
  case tooShort = "too-short"

  /// Why there is no steady state, as a part of a sentence; nil where there is one.
  package var explanation: String? {
    switch self {
    case .steady: nil
    case .unsteady: "resident memory never became steady"
    case .drifting: "resident memory rises or falls all the time"
    case .tooShort: "fewer than \(BinnedCurve.fewestReadings) readings of it were made"
    }
  }
}
