import GateCore

/// The results of sampling a tree.
struct SamplingReport: Sendable {
  /// In order of time.
  var samples: [Sample]
  /// In order of first sight.
  var processes: [ProcessRecord]
  /// The composition of the main process before it was stopped; nil if it ended by itself.
  var composition: Composition?
  var compositions: [CompositionReading]
  var kinds: [KindReading]
  /// See ``Composition/unmapped``.
  var unmapped: [Composition.Library]
  var treeMethod: TreeMethod
  /// See ``Recording/treePeak``.
  var treePeak: Bytes
  /// The longest time between two successive readings while a process was alive.
  var widestGap: Duration
  var kills: [SeenKill]
  var notes: [RecordingNote]
}
