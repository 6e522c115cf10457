import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// What the samplers of collected heaps wrote in one run, by process and thread.
struct HeapLogs {
  /// A target with more files is not read further.
  private static let mostFiles = 1024
  /// A log of a run of hours; what follows is not read.
  private static let largestFile = 64 << 20

  /// The logs of one heap: a sampler may write several.
  private typealias Heap = [HeapLog]

  private var processes: [Int64: [Int64: Heap]] = [:]

  init() {}

  /// Reads the files of a folder, with names as in `PROCESS.THREAD.WRITER`.
  init(in folder: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names.sorted().prefix(Self.mostFiles) {
      let parts = name.split(separator: ".")
      guard parts.count == 3, let process = Int64(parts[0]), let thread = Int64(parts[1]),
        let log = Self.read("\(folder)/\(name)").flatMap(HeapLog.init)
      else { continue }
      processes[process, default: [:]][thread, default: []].append(log)
    }
  }

  init(_ logs: [(process: Int64, thread: Int64, log: HeapLog)]) {
    for (process, thread, log) in logs { processes[process, default: [:]][thread, default: []].append(log) }
  }

  /// It may have been replaced by a link, or by a FIFO, for which open(2) would wait.
  private static func read(_ path: String) -> [UInt8]? {
    guard let file = try? Descriptor.file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) else { return nil }
    var text: [UInt8] = []
    while text.count < largestFile {
      let part = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        count = max(0, pread(file.number, buffer.baseAddress, 1 << 20, off_t(text.count)))
      }
      if part.isEmpty { break }
      text += part
    }
    return text
  }

  /// The function that a native call stack of a process has by a key; nil if it has no name.
  func function(ofPlace key: String, in process: Int64) -> CallTree.Function? {
    for log in (processes[process] ?? [:]).values.joined() {
      if let function = log.function(ofPlace: key) { return function }
    }
    return nil
  }

  /// What processes had in their heaps, each at a time, which is added to a tree; `interval` is that of the tree's samples.
  ///
  /// At the peak it is the most that each had: when its memory is largest depends on garbage, and so differs from run to run.
  func objects(
    of members: [(process: Int64, time: Int64)], at moment: MemoryProfile.Moment, addedTo calls: inout CallTree.Builder,
    interval: Bytes
  ) -> HeapSample {
    var sample = HeapSample(interval: interval, isEmpty: true, obstacle: .notLoaded)
    for (process, time) in members {
      for (_, heap) in (processes[process] ?? [:]).sorted(by: { $0.key < $1.key }) {
        if sample.isEmpty { sample.obstacle = heap.contains(where: \.isRefused) ? .refused : .noProfile }
        let found = moment == .peak ? Self.largest(of: heap) : Self.nearest(of: heap, at: time)
        guard Self.exists(heap, at: time), let (log, profile) = found else { continue }
        sample.add(profile, of: log, to: &calls)
      }
    }
    return sample
  }

  private static func exists(_ heap: Heap, at time: Int64) -> Bool {
    heap.contains { $0.start <= time } && heap.allSatisfy { time <= $0.end }
  }

  private static func largest(of heap: Heap) -> (HeapLog, HeapLog.Profile)? {
    heap.flatMap { log in log.profiles.map { (log, $0) } }.max { $0.1.sum < $1.1.sum }
  }

  private static func nearest(of heap: Heap, at time: Int64) -> (HeapLog, HeapLog.Profile)? {
    heap.flatMap { log in log.profiles.map { (log, $0) } }
      .min { ($0.1.time - time).magnitude < ($1.1.time - time).magnitude }
  }
}

/// The objects that samplers saw in the heaps of some processes.
struct HeapSample {
  /// The mean number of bytes between the samples of the tree that they are added to; zero if it has none.
  fileprivate(set) var interval: Bytes
  /// Whether no sampler had a profile; `obstacle` is why.
  fileprivate(set) var isEmpty: Bool
  fileprivate(set) var obstacle: HeapObstacle
  private(set) var bytes: Int64 = 0

  fileprivate init(interval: Bytes, isEmpty: Bool, obstacle: HeapObstacle) {
    (self.interval, self.isEmpty, self.obstacle) = (interval, isEmpty, obstacle)
  }

  fileprivate mutating func add(_ profile: HeapLog.Profile, of log: HeapLog, to calls: inout CallTree.Builder) {
    isEmpty = false
    if interval == .zero { interval = Bytes(profile.interval) }
    // The error of a sum is by the tree's interval.
    let scale = Double(profile.interval) / Double(max(1, interval.count))
    for (node, amount) in profile.live {
      let stack = log.stack(of: node)
      guard !stack.isEmpty else { continue }
      calls.add(.init(live: amount, sampled: Int64(Double(amount) * scale)), stack: stack)
      bytes += amount
    }
  }
}

extension MemoryProfile {
  mutating func add(_ sample: HeapSample) {
    // The supervisor has read those of Go's runtime itself.
    if sample.isEmpty, heap != .missing(.notLoaded) { return }
    heap = sample.isEmpty ? .missing(sample.obstacle) : .sampled(Bytes(sample.bytes))
    if !sample.isEmpty { samplingInterval = sample.interval }
  }
}
