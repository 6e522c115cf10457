import GateCore

/// What a sampler has seen of a family.
struct SamplingReport: Sendable {
  /// In the order of time.
  var samples: [Sample]
  /// In the order in which they were first seen.
  var processes: [ProcessRecord]
  /// The latest one of the main process.
  var composition: Composition?
  /// The longest time between two successive readings while something lived.
  var widestGap: Duration
  /// Remarks for a person, each one sentence.
  var notes: [String]
}
