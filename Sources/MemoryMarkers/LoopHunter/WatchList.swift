#if LoopHunter

/// An object that is watched, without keeping it alive.
final class WatchedObject: @unchecked Sendable {
  // Sendable, since the object is only compared and never called, and a weak reference is safe to read anywhere.
  private(set) weak var object: AnyObject?

  init(_ object: AnyObject) {
    self.object = object
  }
}

/// How often each place of each watched object came by.
struct WatchList {
  /// What is a loop.
  struct Limits {
    /// The call of a turn that is told of.
    let threshold: Int
    /// The bytes by which memory may grow in a turn; nil where it is not looked at.
    let growth: UInt64?
  }

  /// The calls of one place in one turn.
  struct Counter {
    let name: StaticString
    var turn: UInt64?
    var rssAtTurnStart: UInt64 = 0
    /// When memory is read again, in nanoseconds since boot.
    var nextReading: UInt64 = 0
    var hasGrown = false
    var count = 0
    var largest = 0
    var hasFired = false
  }

  /// A call that is to be told of.
  struct Finding {
    let counter: Counter
    let cause: LoopEvent.Cause

    /// Whether the place was told of before.
    var hasFired: Bool { counter.hasFired }
  }

  struct Entry {
    let watched: WatchedObject
    var counters: [Counter]
  }

  private(set) var entries: [ObjectIdentifier: Entry] = [:]

  /// The threads that are in `onLoop`.
  var reporting: Set<UInt> = []

  var objects: some Sequence<ObjectIdentifier> { entries.keys }

  mutating func add(_ watched: WatchedObject, _ key: ObjectIdentifier, _ name: StaticString) {
    // An entry under the same address is of the same object, or of one that is gone.
    if entries[key]?.watched.object == nil { entries[key] = Entry(watched: watched, counters: []) }
    guard index(of: name, at: key) == nil else { return }
    entries[key]?.counters.append(Counter(name: name))
  }

  mutating func remove(_ key: ObjectIdentifier) {
    entries[key] = nil
  }

  /// Removes what watched these, unless the address has been taken by another since.
  mutating func remove(_ gone: [ObjectIdentifier: WatchedObject]) {
    for (key, watched) in gone where entries[key]?.watched === watched { entries[key] = nil }
  }

  /// Counts a call.
  ///
  /// - Returns: The call, where it is the one to tell of; nil also where the object, or this place of it, is not watched.
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

  mutating func noteFiring(_ key: ObjectIdentifier, _ name: StaticString) {
    guard let index = index(of: name, at: key) else { return }
    entries[key]?.counters[index].hasFired = true
  }

  func largestCount(_ key: ObjectIdentifier, _ name: StaticString) -> Int {
    index(of: name, at: key).flatMap { entries[key]?.counters[$0].largest } ?? 0
  }

  /// By its text: the same literal has another address in another module.
  private func index(of name: StaticString, at key: ObjectIdentifier) -> Int? {
    entries[key]?.counters.firstIndex { $0.name.isEqual(to: name) }
  }
}

extension WatchList.Counter {
  /// Between readings of memory, in nanoseconds: a reading takes 6 µs, so it costs a loop 0.6 % of its time.
  private static let interval: UInt64 = 1_000_000

  /// Counts a call.
  ///
  /// - Returns: What makes it the one to tell of, if it is.
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
    // A turn is told of once, by what comes first.
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
