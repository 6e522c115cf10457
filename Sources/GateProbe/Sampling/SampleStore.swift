import GateCore
import Glibc

/// The samples of a repetition, in a buffer of fixed size.
///
/// When the buffer is full, it keeps one sample of each pair, the one with the larger main process, and from then on
/// merges twice as many readings into a sample. So a long repetition fills at least half of the buffer, and all maxima
/// are preserved.
struct SampleStore: ~Copyable {
  /// A flat sample of 96 bytes, so that the standard buffer takes at most 6 MiB.
  struct Reading {
    var time: Int64
    /// The main process; 0 if it is unknown.
    var process: Int64
    /// Negative if the main process could not be read.
    var resident: Int64
    var peak: Int64
    var anonymous: Int64
    var file: Int64
    var shared: Int64
    var tree: Int64
    var processes: Int64
    /// Negative if it was not read.
    var minorFaults: Int64 = -1
    var cpuTime: Int64 = 0
    /// How often the main process's high-water mark has been reset so far, or another process has become the main one.
    var epoch: Int64 = 0
  }

  static let standardCapacity = 65_536

  private let buffer: UnsafeMutableBufferPointer<Reading>
  private(set) var count = 0
  /// The number of readings per sample.
  private(set) var stride = 1
  private var pending: Reading?
  private var pendingCount = 0
  private var epoch: Int64 = 0

  /// Allocates the buffer; untouched pages of it take no memory.
  init(capacity: Int = standardCapacity) {
    buffer = .allocate(capacity: capacity)
  }

  deinit {
    buffer.deallocate()
  }

  /// Notes that the main process's high-water mark was reset, or that another process has become the main one.
  mutating func beginEpoch() {
    epoch += 1
  }

  mutating func append(_ reading: Reading) {
    var reading = reading
    reading.epoch = epoch
    pending = pending.map { Self.higher($0, reading) } ?? reading
    pendingCount += 1
    if pendingCount >= stride { flush() }
  }

  /// Stores the pending readings as a sample.
  mutating func flush() {
    guard let reading = pending else { return }
    if count == buffer.count { downsample() }
    buffer[count] = reading
    count += 1
    pending = nil
    pendingCount = 0
  }

  private mutating func downsample() {
    var kept = 0
    for first in Swift.stride(from: 0, to: count, by: 2) {
      buffer[kept] = first + 1 < count ? Self.higher(buffer[first], buffer[first + 1]) : buffer[first]
      kept += 1
    }
    count = kept
    stride *= 2
  }

  /// The reading with the larger main process, with the larger tree and the higher peak of the two.
  ///
  /// A peak from before a reset must not appear after it, so readings of different epochs keep their own.
  private static func higher(_ one: Reading, _ other: Reading) -> Reading {
    var kept = other.resident > one.resident ? other : one
    if one.epoch == other.epoch { kept.peak = max(one.peak, other.peak) }
    if max(one.tree, other.tree) > kept.tree {
      kept.tree = max(one.tree, other.tree)
      kept.processes = one.tree > other.tree ? one.processes : other.processes
    }
    return kept
  }

  /// The last `limit` samples, in order of time.
  func last(_ limit: Int) -> [Sample] {
    (max(0, count - limit)..<count).map { Sample(buffer[$0]) }
  }

  /// The last values of the main process.
  var lastMemory: MemoryReading? {
    for at in (0..<count).reversed() {
      if let memory = Sample(buffer[at]).main { return memory }
    }
    return nil
  }
}

extension SampleStore.Reading {
  init(
    time: Int64,
    process: Int32?,
    memory: MemoryReading?,
    tree: Int64,
    processes: Int,
    activity: Activity? = nil
  ) {
    self.init(
      time: time, process: Int64(process ?? 0), resident: memory?.resident.count ?? -1,
      peak: memory?.peak.count ?? 0, anonymous: memory?.anonymous.count ?? 0, file: memory?.file.count ?? 0,
      shared: memory?.shared.count ?? 0,
      tree: tree, processes: Int64(processes), minorFaults: activity?.minorFaults ?? -1,
      cpuTime: activity?.cpuTime.nanoseconds ?? 0
    )
  }
}

extension Sample {
  fileprivate init(_ reading: SampleStore.Reading) {
    let main =
      reading.resident < 0
      ? nil
      : MemoryReading(
        resident: Bytes(reading.resident), peak: Bytes(reading.peak), anonymous: Bytes(reading.anonymous),
        file: Bytes(reading.file), shared: Bytes(reading.shared)
      )
    let activity =
      reading.minorFaults < 0
      ? nil : Activity(minorFaults: reading.minorFaults, cpuTime: .nanoseconds(reading.cpuTime))
    self.init(
      time: .nanoseconds(reading.time), process: Int32(reading.process), main: main, tree: Bytes(reading.tree),
      processes: Int(reading.processes), activity: activity
    )
  }
}
