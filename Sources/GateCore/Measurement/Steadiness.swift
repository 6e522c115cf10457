/// Whether resident memory became steady, and if not, why not.
package enum Steadiness: String, Sendable, CaseIterable, Codable {
  /// It has a level.
  case steady
  /// It still changed in the second half of the run.
  case unsteady
  /// It rose or fell continuously, so that its median would depend on when the run ended.
  case drifting
  /// There were too few samples.
  case tooShort = "too-short"

  /// Fewer samples of the main process are ``tooShort``.
  package static let fewestReadings = 10
}
