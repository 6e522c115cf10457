#if LoopHunter

/// A weak reference to a watched object.
final class WatchedObject: @unchecked Sendable {
  // Sendable, because the object is only compared, never used, and a weak reference is read atomically.
  private(set) weak var object: AnyObject?

  init(_ object: AnyObject) {
    self.object = object
  }
}

/// The calls of each watched function of each object.
struct WatchList {
  /// What counts as a loop.
  struct Limits {
    /// The calls in a turn that are reported.
    let threshold: Int
    /// The bytes by which memory may grow in a turn; nil for no limit.
    let growth: UInt64?
  }

  /// The calls of one function in one turn.
  struct Counter {
    let name: StaticString
    var turn: UInt64?
    var rssAtTurnStart: UInt64 = 0
    /// The earliest time of the next reading of memory, in nanoseconds since boot.
    var nextReading: UInt64 = 0
    var hasGrown = false
    var count = 0
    var largest = 0
    var wasReported = false
  }

  /// A call to report.
  struct Finding {
    let counter: Counter
    let cause: LoopEvent.Cause

    /// Whether the function was reported before.
    var wasReported: Bool { counter.wasReported }
  }

  struct Entry {
    let watched: WatchedObject
    var counters: [Counter]
  }

  private(set) var entries: [ObjectIdentifier: Entry] = [:]

  /// The threads that are in `onLoop`.
  var reportingThreads: Set<UInt> = []

  var objects: some Sequence<ObjectIdentifier> { entries.keys }

  mutating func add(_ watched: WatchedObject, _ key: ObjectIdentifier, _ name: StaticString) {
    // An entry with the same address belongs to the same object, or to one that was released.
    if entries[key]?.watched.object == nil { entries[key] = Entry(watched: watched, counters: []) }
    guard index(of: name, at: key) == nil else { return }
    entries[key]?.counters.append(Counter(name: name))
  }

  mutating func remove(_ key: ObjectIdentifier) {
    entries[key] = nil
  }

  /// Removes the entries of these objects, unless another object has the same address now.
  mutating func remove(_ released: [ObjectIdentifier: WatchedObject]) {
    for (key, watched) in released where entries[key]?.watched === watched { entries[key] = nil }
  }

  /// Counts a call.
  ///
  /// - Returns: The call if it is to be reported; nil also if the object or this function is not watched.
  mutating func count(_ object: AnyObject, _ name: StaticString, turn: UInt64, limits: Limits) -> Finding? {
    let key = ObjectIdentifier(object)
    guard let entry = entries[key], entry.watched.object === object, let index = index(of: name, at: key) else {
      return nil
    }
    var counter = entry.counters[index]
    let cause = counter.add(turn, limits)
    entries[key]?.counters[index] = counter
    return cause.map { Finding(counter: counter, cause: $0) }
  }

  mutating func markReported(_ key: ObjectIdentifier, _ name: StaticString) {
    guard let index = index(of: name, at: key) else { return }
    entries[key]?.counters[index].wasReported = true
  }

  func largestCount(_ key: ObjectIdentifier, _ name: StaticString) -> Int {
    index(of: name, at: key).flatMap { entries[key]?.counters[$0].largest } ?? 0
  }

  /// Compares names by content: the same literal has another address in another module.
  private func index(of name: StaticString, at key: ObjectIdentifier) -> Int? {
    entries[key]?.counters.firstIndex { $0.name.isEqual(to: name) }
  }
}

extension WatchList.Counter {
  /// The time between readings of memory, in nanoseconds: a reading takes 6 µs, 0.6 % of a loop's time.
  private static let interval: UInt64 = 1_000_000

  /// Counts a call.
  ///
  /// - Returns: Why the call is to be reported; nil if it is not.
  fileprivate mutating func add(_ next: UInt64, _ limits: WatchList.Limits) -> LoopEvent.Cause? {
    if turn != next {
      turn = next
      count = 0
      hasGrown = false
      rssAtTurnStart = ProcessMemory.resident()
      nextReading = 0
    }
    count += 1
    largest = max(largest, count)
    let growsNow = limits.growth.map { grows($0) } ?? false
    // A turn is reported once, by whichever limit is reached first.
    if count == limits.threshold && !hasGrown { return .calls }
    guard growsNow && count < limits.threshold else { return nil }
    hasGrown = true
    return .growth
  }

  private mutating func grows(_ growth: UInt64) -> Bool {
    guard count > 1, !hasGrown else { return false }
    let now = Clock.sinceBoot()
    guard now >= nextReading else { return false }
    nextReading = now + Self.interval
    return ProcessMemory.resident() >= rssAtTurnStart + growth
  }
}

extension StaticString {
  fileprivate func isEqual(to other: StaticString) -> Bool {
    guard hasPointerRepresentation, other.hasPointerRepresentation else { return description == other.description }
    return utf8CodeUnitCount == other.utf8CodeUnitCount
      && (utf8Start == other.utf8Start
        || UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
          .elementsEqual(UnsafeBufferPointer(start: other.utf8Start, count: utf8CodeUnitCount)))
  }
}

#endif
