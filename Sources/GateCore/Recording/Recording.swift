/// All that was seen of one repetition.
package struct Recording: Sendable, Equatable {
  package var method: MeasurementMethod
  /// In the order of time.
  package var samples: [Sample]
  /// In the order of time.
  package var marks: [Mark]
  package var processes: [ProcessRecord]
  /// What the main process held at its end, or before it was stopped.
  package var composition: Composition?
  /// In the order of time; the last one need not be ``composition``.
  package var compositions: [CompositionReading]
  package var treeMethod: TreeMethod
  /// The size of a page of memory in bytes: what a page fault brings in.
  package var pageSize: Int
  package var end: End
  /// The step, setup, teardown or readiness that failed.
  package var failure: Failure?
  /// From exec to end.
  package var duration: Duration
  /// When the runner asked the target to stop; nil where it ended by itself.
  package var stopRequested: Duration?
  /// The longest time between two samples: what is shorter may have been missed.
  package var widestGap: Duration
  /// Lines that the target wrote to its marks FIFO and that are no valid messages.
  package var unknownMarks: Int
  /// The last lines of the target's output.
  package var outputTail: String
  package var notes: [RecordingNote]

  package init(
    method: MeasurementMethod = .sampled,
    samples: [Sample] = [],
    marks: [Mark] = [],
    processes: [ProcessRecord] = [],
    composition: Composition? = nil,
    compositions: [CompositionReading] = [],
    treeMethod: TreeMethod = .upperBound,
    pageSize: Int = 4096,
    end: End,
    failure: Failure? = nil,
    duration: Duration = .zero,
    stopRequested: Duration? = nil,
    widestGap: Duration = .zero,
    unknownMarks: Int = 0,
    outputTail: String = "",
    notes: [RecordingNote] = []
  ) {
    self.method = method
    self.samples = samples
    self.marks = marks
    self.processes = processes
    self.composition = composition
    self.compositions = compositions
    self.treeMethod = treeMethod
    self.pageSize = pageSize
    self.end = end
    self.failure = failure
    self.duration = duration
    self.stopRequested = stopRequested
    self.widestGap = widestGap
    self.unknownMarks = unknownMarks
    self.outputTail = outputTail
    self.notes = notes
  }
}
