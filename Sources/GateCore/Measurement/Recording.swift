/// What one process held in memory at one instant, from `/proc/<pid>/status`.
package struct MemoryReading: Sendable, Equatable {
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
  /// The main process; nil before it is known, after it has gone, and where only another process of the tree was read.
  package var main: MemoryReading?
  /// The memory of the whole tree; what it counts is the recording's ``TreeMethod``.
  package var tree: Bytes
  package var processes: Int
  /// What the main process has done up to then; nil where it was not read.
  package var activity: Activity?

  package init(time: Duration, main: MemoryReading?, tree: Bytes, processes: Int, activity: Activity? = nil) {
    self.time = time
    self.main = main
    self.tree = tree
    self.processes = processes
    self.activity = activity
  }
}

/// What a process has done since its start, from `/proc/<pid>/stat`.
package struct Activity: Sendable, Equatable {
  /// Page faults that needed no reading from a disk (`minflt`): each made one more page resident.
  package var minorFaults: Int64
  /// The time that CPUs have spent on it (`utime` and `stime`), in steps of the kernel's clock tick, mostly 10 ms.
  package var cpuTime: Duration

  package init(minorFaults: Int64, cpuTime: Duration) {
    self.minorFaults = minorFaults
    self.cpuTime = cpuTime
  }
}

/// What the figures of a process tree count.
package enum TreeMethod: String, Sendable, CaseIterable, Codable {
  /// Anonymous and shared memory of the target's own cgroup: each page once, file pages not at all.
  case cgroup
  /// Proportional set sizes (`Pss`) as far as they could be read: a page that n processes share counts 1/n in each.
  /// What was not yet read counts in full, a fresh copy by fork(2) with what it has gained since.
  case proportional
  /// The sum of resident memory: shared pages count once for each process.
  case upperBound = "upper-bound"
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
  /// The main process's exact high-water mark since the mark before that has one, or since its exec.
  ///
  /// It is there where the tree stood still while the mark was read and set back to what was resident (`clear_refs`,
  /// proc_pid_clear_refs(5)), so that nothing fell between; samples after it show marks that count from here.
  package var peakBefore: Bytes?

  package init(time: Duration, event: Event, resident: Bytes? = nil, peakBefore: Bytes? = nil) {
    self.time = time
    self.event = event
    self.resident = resident
    self.peakBefore = peakBefore
  }
}

/// One process of the target's tree.
package struct ProcessRecord: Sendable, Equatable, Codable {
  package var id: Int32
  package var parent: Int32
  /// The kernel's name of the process (`comm`), at most 15 bytes.
  package var command: String
  package var isMain: Bool
  /// The highest figure seen of it, over all programs that it was.
  package var peak: Bytes
  package var firstSeen: Duration
  package var lastSeen: Duration
  /// Whether its last high-water mark was read at its very end, so that nothing of it was missed.
  package var isExact: Bool
  /// How it ended; nil where it was not seen to end.
  package var ending: EndEvidence.Status?

  package init(
    id: Int32,
    parent: Int32,
    command: String,
    isMain: Bool,
    peak: Bytes,
    firstSeen: Duration,
    lastSeen: Duration,
    isExact: Bool = false,
    ending: EndEvidence.Status? = nil
  ) {
    self.id = id
    self.parent = parent
    self.command = command
    self.isMain = isMain
    self.peak = peak
    self.firstSeen = firstSeen
    self.lastSeen = lastSeen
    self.isExact = isExact
    self.ending = ending
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
  /// Pages given back by `MADV_FREE` that the kernel has not yet taken: part of `anonymous`, and no leak.
  package var lazilyFreed: Bytes?
  /// Anonymous memory in transparent huge pages: part of `anonymous`.
  package var hugePages: Bytes?
  /// Resident pages by file, the largest first; at most ``mostLibraries``.
  package var libraries: [Library]
  /// The paths of the files whose code is mapped, the program's own and its libraries'; known while a target is measured
  /// only, and kept nowhere.
  package var codeFiles: [String] = []

  /// The resident pages of one mapped file.
  package struct Library: Sendable, Equatable {
    /// The last part of its path.
    package var name: String
    package var resident: Bytes

    package init(name: String, resident: Bytes) {
      self.name = name
      self.resident = resident
    }
  }

  package static let mostLibraries = 32

  package init(
    anonymous: Bytes,
    file: Bytes,
    shared: Bytes,
    stack: Bytes? = nil,
    heap: Bytes? = nil,
    lazilyFreed: Bytes? = nil,
    hugePages: Bytes? = nil,
    libraries: [Library] = []
  ) {
    self.anonymous = anonymous
    self.file = file
    self.shared = shared
    self.stack = stack
    self.heap = heap
    self.lazilyFreed = lazilyFreed
    self.hugePages = hugePages
    self.libraries = libraries
  }

  /// All of it: what was resident when it was read.
  package var resident: Bytes { Bytes(anonymous.count + file.count + shared.count) }
}

/// One reading of what the main process's memory consists of.
package struct CompositionReading: Sendable, Equatable {
  /// Time since the target's exec.
  package var time: Duration
  package var composition: Composition
  /// Its proportional set size (`Pss`); nil where it was not read.
  package var proportional: Bytes?

  package init(time: Duration, composition: Composition, proportional: Bytes? = nil) {
    self.time = time
    self.composition = composition
    self.proportional = proportional
  }
}

/// The method of the ladder of methods that measured a repetition.
///
/// Figures of different methods are never compared.
package enum MeasurementMethod: String, Sendable, CaseIterable, Codable {
  /// Each process's own high-water mark, read when it ends; the tree's memory from a cgroup of its own.
  case tracedInCgroup = "traced+cgroup"
  /// Each process's own high-water mark, read when it ends.
  case traced
  /// Readings of `/proc` at intervals, with the tree's memory from a cgroup of its own.
  case sampledInCgroup = "sampled+cgroup"
  /// Readings of `/proc` at intervals: what happens between the last one and the end is missed.
  case sampled

  package init(isTraced: Bool, inCgroup: Bool) {
    switch (isTraced, inCgroup) {
    case (true, true): self = .tracedInCgroup
    case (true, false): self = .traced
    case (false, true): self = .sampledInCgroup
    case (false, false): self = .sampled
    }
  }

  package var isTraced: Bool { self == .tracedInCgroup || self == .traced }
  package var isInCgroup: Bool { self == .tracedInCgroup || self == .sampledInCgroup }
}

/// Why a repetition cannot count, though its target may have ended well.
package struct Failure: Sendable, Hashable, Codable {
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
  /// Lines that the target wrote to its marks FIFO and that no message was.
  package var unknownMarks: Int
  /// The last lines of the target's output.
  package var outputTail: String
  package var notes: [String]

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
    notes: [String] = []
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
