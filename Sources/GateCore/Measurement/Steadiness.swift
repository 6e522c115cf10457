/// Whether resident memory became steady, and if not, why not.
package enum Steadiness: String, Sendable, CaseIterable, Codable {
  /// It has a level.
  case steady
  /// It still changed in the last half of the run.
  case unsteady
  /// It rose or fell all the time, so that its median would depend on when the run ended.
  case drifting
  /// Too few readings were made.
  case tooShort = "too-short"

  /// Fewer readings of the main process have no shape: they are ``tooShort``.
  package static let fewestReadings = 10
}
