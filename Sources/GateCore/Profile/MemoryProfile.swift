/// What holds the anonymous memory of one process at its peak, by call stack; or of several of one name together.
package struct MemoryProfile: Sendable, Equatable {
  /// How it was measured, the best first.
  package enum Method: String, Sendable, CaseIterable, Codable {
    /// Page faults stopped the process, and allocations were sampled.
    case stopsAndBlocks = "page-faults-and-blocks"
    case stops = "page-faults"
    case blocks
    /// Only sizes of mappings (`smaps`), without stacks.
    case mappings

    /// Whether live blocks are known.
    var samplesBlocks: Bool { self == .stopsAndBlocks || self == .blocks }
  }

  /// When processes were asked what they hold.
  package enum Moment: String, Sendable, CaseIterable, Codable {
    /// When they held most.
    case peak
    /// The end of the steps. Of a program that ends by itself, when it held a middle amount in the last quarter of its
    /// run: at its exit it has released memory.
    case end
    /// Halfway from the beginning of the steps or iterations to ``end``, by the time in which the program ran, without the
    /// profiler's stops, and its allocations.
    case early
    /// Halfway from ``early`` to ``end``.
    case middle
    /// No moment, but what was released in all of the run, see ``Releases``.
    case releases

    /// Whether builds are compared by it; the others are compared within one run.
    package var isOfBuild: Bool { self == .peak || self == .end }
  }

  /// Why memory has no call stack.
  package enum Cause: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
    /// No page fault was seen: the kernel filled the page, as in `read`, or page faults do not stop the process.
    case noPageFault = "no-page-fault"
    /// The profiler's own memory.
    case profiler
  }

  /// The name of the process (`comm`).
  package var process: String
  package var moment = Moment.peak
  /// How many processes of this name were alive when they held most together, without small ones.
  package var processes = 1
  /// The place of one of several processes of this name by what each held, from 1 for the largest; nil for all of them
  /// together.
  package var rank: Int?
  package var method: Method
  /// The most memory that the process held (`VmHWM`, without the profiler's ring); the sum of several, each at its own peak.
  package var peak: Bytes
  /// The anonymous memory (`RssAnon`, but counted in the page tables) at the snapshot nearest to the peak.
  ///
  /// Pages that a forked process still shares count only for the process that touched them.
  package var anonymous: Bytes
  /// Pages of mapped files (`RssFile`) and of shared memory (`RssShmem`) at that snapshot; of several processes, of the
  /// one with most.
  package var files = Bytes.zero
  package var shared = Bytes.zero
  package var calls: CallTree
  /// Heap pages beyond the live blocks: the allocator's data and holes.
  ///
  /// Negative if the samples overestimate the blocks; all of the heap if allocations were not sampled.
  package var heapOverhead: Int64
  package var unattributed: [Cause: Bytes]
  /// The mean number of bytes from one sampled allocation to the next; zero if live blocks are not estimates.
  package var samplingInterval: Bytes
  /// The file name of the program; empty if unknown.
  package var program = ""
  /// The name by which it was started, which a program may change; empty if unknown.
  package private(set) var startedAs = ""
  /// An estimate of all that was allocated in blocks, freed ones too.
  package var allocated = Bytes.zero
  /// Objects of a collected heap are live blocks of ``calls``, and their pages were touched first by someone as well.
  package var heap = HeapSampling.missing(.notLoaded)

  package init(
    process: String,
    method: Method,
    peak: Bytes,
    anonymous: Bytes,
    calls: CallTree,
    heapOverhead: Int64 = 0,
    unattributed: [Cause: Bytes] = [:],
    samplingInterval: Bytes = .zero
  ) {
    self.process = process
    self.method = method
    self.peak = peak
    self.anonymous = anonymous
    self.calls = calls
    self.heapOverhead = heapOverhead
    self.unattributed = unattributed
    self.samplingInterval = samplingInterval
  }

  /// The sum of its parts, which equals ``anonymous``.
  package var sum: Bytes {
    let total = calls.total
    let rest = heapOverhead + unattributed.values.reduce(0) { $0 + $1.count }
    return Bytes(total.live + total.touched - collectedObjects + rest)
  }
}

extension MemoryProfile {
  /// Notes the name by which the program was started, which may be a link's: its code has that name then, unless it is an
  /// interpreter or a runtime, which is known by its own.
  package mutating func name(asStarted name: String) {
    guard !name.isEmpty else { return }
    startedAs = name
    let code = FunctionName(CallTree.Function(module: program, name: "main"))
    guard !program.isEmpty, !program.hasPrefix(name), RoleTable([code]).isOwn(code) else { return }
    calls = calls.renamingModule(program, to: name)
    program = name
  }
  /// What call stacks hold in a collected heap, in bytes.
  var collectedObjects: Int64 { if case .sampled(let bytes) = heap { bytes.count } else { 0 } }

  /// The anonymous memory without the profiler's own.
  var ownMemory: Bytes { anonymous - (unattributed[.profiler] ?? .zero) }
}

extension Sequence<MemoryProfile> {
  /// The one with the median of the anonymous memory, the lower of the middle two; nil for none.
  package var middle: MemoryProfile? {
    let sorted = sorted { $0.anonymous < $1.anonymous }
    return sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
  }
}
