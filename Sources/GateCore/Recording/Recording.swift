/// All measurements of one repetition.
package struct Recording: Sendable, Equatable {
  package var method: MeasurementMethod
  /// In order of time.
  package var samples: [Sample]
  /// In order of time.
  package var marks: [Mark]
  package var processes: [ProcessRecord]
  /// The main process's memory at its end, or before it was stopped.
  package var composition: Composition?
  /// In order of time; the last may differ from ``composition``.
  package var compositions: [CompositionReading]
  package var treeMethod: TreeMethod
  /// A lower bound of the tree's peak: the highest peak of a process, with what all others had throughout its life.
  ///
  /// It is exact for a wrapper around a program, and for programs that run one after the other.
  package var treePeak: Bytes
  /// The size of a memory page in bytes, which is what a page fault adds.
  package var pageSize: Int
  package var end: End
  /// The step, setup, teardown or readiness that failed.
  package var failure: Failure?
  /// From exec to end.
  package var duration: Duration
  /// The time in which the last successful `settle` step found memory steady; nil if there was none.
  package var settled: ClosedRange<Duration>?
  /// When the runner requested the stop; nil if the target ended by itself.
  package var stopRequested: Duration?
  /// The longest time between two samples; anything shorter may have been missed.
  package var widestGap: Duration
  /// The number of invalid lines that the target wrote to its marks FIFO.
  package var unknownMarks: Int
  /// The last lines of the target's output.
  package var outputTail: String
  package var notes: [RecordingNote]
  /// What its own memory cgroup counted; nil without one.
  package var usage: CgroupUsage?
  /// The sockets on which the target listened before it was stopped, if the scenario asks for them.
  package var listeners: [Readiness.Condition] = []
  /// What held the memory of a profiled target's processes, the largest of each name, in descending order of memory.
  ///
  /// The other values of such a repetition include the profiler's own cost.
  package var profiles: [MemoryProfile] = []
  /// Without what the runner spends around the repetition.
  package var times = TimeUse()
  /// The living instances by class, if the target counted them; memory then includes the counters' own cost.
  package var instances: InstanceReading?
  /// Whether the target held what was to be injected by a library.
  package var injection = InjectionState.notLoaded
  /// The allocations, if they were counted.
  package var allocations: AllocationReading?
  /// The peaks with other numbers of items; nil without a ``Scale``.
  package var scaling: Scaling?
  /// The metrics of kinds of memory that the gate judges, and the readings for them; empty without such a rule.
  package var kinds: [KindMetric] = []
  package var kindReadings: [KindReading] = []
  /// The processes that SIGKILL ended, which Highwater did not send, in order of time.
  package var kills: [KilledProcess] = []

  package init(
    method: MeasurementMethod = .sampled,
    samples: [Sample] = [],
    marks: [Mark] = [],
    processes: [ProcessRecord] = [],
    composition: Composition? = nil,
    compositions: [CompositionReading] = [],
    treeMethod: TreeMethod = .upperBound,
    treePeak: Bytes = .zero,
    pageSize: Int = Int(Bytes.usualPage.count),
    end: End,
    failure: Failure? = nil,
    duration: Duration = .zero,
    settled: ClosedRange<Duration>? = nil,
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
    self.treePeak = treePeak
    self.pageSize = pageSize
    self.end = end
    self.failure = failure
    self.duration = duration
    self.settled = settled
    self.stopRequested = stopRequested
    self.widestGap = widestGap
    self.unknownMarks = unknownMarks
    self.outputTail = outputTail
    self.notes = notes
  }
}
