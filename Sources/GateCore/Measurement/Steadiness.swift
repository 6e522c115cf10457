/// Whether resident memory became steady, and if not, why not.
package enum Steadiness: String, Sendable, CaseIterable, Codable {
  /// It has a level.
  case steady
  /// It still changed in the second half of the run.
  case unsteady
  /// It rose or fell continuously, so that its median would depend on when the run ended.
  case drifting
  /// There were too few samples, or too little time: a program that is being loaded is read often.
  case tooShort = "too-short"

  /// Fewer samples of the main process are ``tooShort``.
  package static let fewestReadings = 10

  /// So is less time: even on a busy machine a program that does nothing, such as `true`, has ended by then.
  package static let shortestTime = Duration.milliseconds(100)
}
