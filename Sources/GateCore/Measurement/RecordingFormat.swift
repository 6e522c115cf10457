/// The formats in which recordings are exported.
package enum RecordingFormat: String, Sendable, CaseIterable {
  /// The whole recording.
  case json
  /// The samples, one per row.
  case csv
}
