/// What one process held in memory at one instant, from `/proc/<pid>/status`.
package struct MemoryFigures: Sendable, Equatable {
  /// `VmRSS`.
  package var resident: Bytes
  /// `VmHWM`.
  package var peak: Bytes
  /// `RssAnon`.
  package var anonymous: Bytes
  /// `RssFile`.
  package var file: Bytes
  /// `RssShmem`.
  package var shared: Bytes

  package init(resident: Bytes, peak: Bytes, anonymous: Bytes, file: Bytes, shared: Bytes) {
    self.resident = resident
    self.peak = peak
    self.anonymous = anonymous
    self.file = file
    self.shared = shared
  }
}

/// One reading of the process tree.
package struct Sample: Sendable, Equatable {
  /// Time since the target's exec.
  package var time: Duration
  /// The main process; nil before it is known and after it has gone.
  package var main: MemoryFigures?
  /// The sum of resident memory over all processes of the tree; counts shared pages more than once.
  package var tree: Bytes
  package var processes: Int

  package init(time: Duration, main: MemoryFigures?, tree: Bytes, processes: Int) {
    self.time = time
    self.main = main
    self.tree = tree
    self.processes = processes
  }
}

/// Something that happened at an instant of a repetition.
package struct Mark: Sendable, Equatable {
  package enum Event: Sendable, Equatable {
    case phase(String)
    case mark(String)
    case iteration
    case value(name: String, number: Double, unit: String)
  }

  /// Time since the target's exec.
  package var time: Duration
  package var event: Event
  /// Resident memory of the main process just then, where it could be read.
  package var resident: Bytes?

  package init(time: Duration, event: Event, resident: Bytes? = nil) {
    self.time = time
    self.event = event
    self.resident = resident
  }
}

/// One process of the target's tree.
package struct ProcessRecord: Sendable, Equatable {
  package var id: Int32
  package var parent: Int32
  /// The kernel's name of the process (`comm`), at most 15 bytes.
  package var command: String
  package var isMain: Bool
  /// The highest figure seen of it.
  package var peak: Bytes
  package var firstSeen: Duration
  package var lastSeen: Duration

  package init(
    id: Int32,
    parent: Int32,
    command: String,
    isMain: Bool,
    peak: Bytes,
    firstSeen: Duration,
    lastSeen: Duration
  ) {
    self.id = id
    self.parent = parent
    self.command = command
    self.isMain = isMain
    self.peak = peak
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
  }
}

/// What the main process's resident memory consists of, by kind of mapping.
package struct Composition: Sendable, Equatable {
  package var anonymous: Bytes
  package var file: Bytes
  package var shared: Bytes
  /// nil: the process was too short-lived for a reading of its mappings (`smaps`).
  package var stack: Bytes?
  package var heap: Bytes?

  package init(anonymous: Bytes, file: Bytes, shared: Bytes, stack: Bytes? = nil, heap: Bytes? = nil) {
    self.anonymous = anonymous
    self.file = file
    self.shared = shared
    self.stack = stack
    self.heap = heap
  }
}

/// The rung of the ladder of methods that measured a repetition.
package enum Rung: String, Sendable, CaseIterable {
  /// Readings of `/proc` at intervals: what happens between the last one and the end is missed.
  case sampled
}

/// Why a repetition cannot count, though its target may have ended well.
package struct Failure: Sendable, Equatable {
  /// What failed, as in ``step 3 `run: redis-cli ping` ``.
  package var subject: String
  package var problem: String
  package var place: SourcePlace?
  /// The last lines that the failed program printed; may be empty.
  package var output: String

  package init(subject: String, problem: String, place: SourcePlace? = nil, output: String = "") {
    self.subject = subject
    self.problem = problem
    self.place = place
    self.output = output
  }
}

/// All that was seen of one repetition.
package struct Recording: Sendable, Equatable {
  package var rung: Rung
  /// In the order of time.
  package var samples: [Sample]
  /// In the order of time.
  package var marks: [Mark]
  package var processes: [ProcessRecord]
  package var composition: Composition?
  package var end: End
  /// The step, setup, teardown or readiness that failed.
  package var failure: Failure?
  /// From exec to end.
  package var duration: Duration
  /// When the runner asked the target to stop; nil where it ended by itself.
  package var stopRequested: Duration?
  /// The longest time between two samples: what is shorter may have been missed.
  package var widestGap: Duration
  /// Lines that the target wrote to its marks FIFO and that no message was.
  package var unknownMarks: Int
  /// The last lines of the target's output.
  package var outputTail: String
  package var notes: [String]

  package init(
    rung: Rung = .sampled,
    samples: [Sample] = [],
    marks: [Mark] = [],
    processes: [ProcessRecord] = [],
    composition: Composition? = nil,
    end: End,
    failure: Failure? = nil,
    duration: Duration = .zero,
    stopRequested: Duration? = nil,
    widestGap: Duration = .zero,
    unknownMarks: Int = 0,
    outputTail: String = "",
    notes: [String] = []
  ) {
    self.rung = rung
    self.samples = samples
    self.marks = marks
    self.processes = processes
    self.composition = composition
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
