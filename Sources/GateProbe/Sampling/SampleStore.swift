import GateCore
import Glibc

/// The samples of a repetition, in a buffer of a fixed size.
///
/// When it is full it keeps one of each two, the one in which the main process was larger, and from then on stores
/// one of twice as many readings. So a repetition of any length fills between half of the buffer and all of it, and every
/// maximum stays.
struct SampleStore: ~Copyable {
  /// A sample without indirection: 88 bytes, so that the standard buffer is 5 MiB at most.
  struct Reading {
    var time: Int64
    /// Negative where the main process could not be read.
    var resident: Int64
    var peak: Int64
    var anonymous: Int64
    var file: Int64
    var shared: Int64
    var tree: Int64
    var processes: Int64
    /// Negative where it was not read.
    var minorFaults: Int64 = -1
    var cpuTime: Int64 = 0
    /// How often the main process's high-water mark had been set back by then.
    var epoch: Int64 = 0
  }

  /// How many samples the standard buffer holds.
  static let standardCapacity = 65_536

  private let buffer: UnsafeMutableBufferPointer<Reading>
  private(set) var count = 0
  /// How many readings make one sample.
  private(set) var stride = 1
  private var pending: Reading?
  private var pendingCount = 0
  private var epoch: Int64 = 0

  /// Makes the buffer; the system gives it memory only as far as it is used, since new pages are mapped untouched.
  init(capacity: Int = standardCapacity) {
    buffer = .allocate(capacity: capacity)
  }

  deinit {
    buffer.deallocate()
  }

  /// Takes in that the main process's high-water mark counts from now on.
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

  /// Stores what was taken in since the last sample.
  mutating func flush() {
    guard let reading = pending else { return }
    if count == buffer.count { thin() }
    buffer[count] = reading
    count += 1
    pending = nil
    pendingCount = 0
  }

  private mutating func thin() {
    var kept = 0
    for first in Swift.stride(from: 0, to: count, by: 2) {
      buffer[kept] = first + 1 < count ? Self.higher(buffer[first], buffer[first + 1]) : buffer[first]
      kept += 1
    }
    count = kept
    stride *= 2
  }

  /// The one in which the main process was larger, with the larger tree and the higher mark of the two.
  ///
  /// A mark from before it was set back must not stand behind that: then each keeps its own.
  private static func higher(_ one: Reading, _ other: Reading) -> Reading {
    var kept = other.resident > one.resident ? other : one
    if one.epoch == other.epoch { kept.peak = max(one.peak, other.peak) }
    if max(one.tree, other.tree) > kept.tree {
      kept.tree = max(one.tree, other.tree)
      kept.processes = one.tree > other.tree ? one.processes : other.processes
    }
    return kept
  }

  /// The last `limit` samples, in the order of time.
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
  init(time: Int64, main: MemoryReading?, tree: Int64, processes: Int, activity: Activity? = nil) {
    self.init(
      time: time, resident: main?.resident.count ?? -1, peak: main?.peak.count ?? 0,
      anonymous: main?.anonymous.count ?? 0, file: main?.file.count ?? 0, shared: main?.shared.count ?? 0,
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
      time: .nanoseconds(reading.time), main: main, tree: Bytes(reading.tree), processes: Int(reading.processes),
      activity: activity
    )
  }
}
