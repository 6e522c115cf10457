import GateCore

/// What a sampler has seen of a tree.
struct SamplingReport: Sendable {
  /// In the order of time.
  var samples: [Sample]
  /// In the order in which they were first seen.
  var processes: [ProcessRecord]
  /// What the main process consisted of before it was stopped; nil where it ended by itself.
  var composition: Composition?
  var compositions: [CompositionReading]
  var treeMethod: TreeMethod
  /// The longest time between two successive readings while something lived.
  var widestGap: Duration
  var notes: [RecordingNote]
}
