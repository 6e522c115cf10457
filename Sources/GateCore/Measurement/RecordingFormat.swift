/// The forms in which a recording is given to other programs.
package enum RecordingFormat: String, Sendable, CaseIterable {
  /// All of it.
  case json
  /// The samples, one a row.
  case csv
}
