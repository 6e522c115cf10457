#if LoopHunter

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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

  /// What a call is reported for.
  enum Finding {
    case loop(WatchCounter, LoopEvent.Cause)
    /// The object is only called by other names than the one that is watched.
    case unmatchedName(watched: StaticString)
  }

  struct Entry {
    let watched: WatchedObject
    var counters: [WatchCounter] = []
    /// The calls by other names.
    var unmatched = 0
  }

  private(set) var entries: [ObjectIdentifier: Entry] = [:]

  /// The threads that are in `onLoop`.
  var reportingThreads: Set<UInt64> = []

  var objects: some Sequence<ObjectIdentifier> { entries.keys }

  mutating func add(_ watched: WatchedObject, _ key: ObjectIdentifier, _ name: StaticString) {
    // An entry with the same address belongs to the same object, or to one that was released.
    if entries[key]?.watched.object == nil { entries[key] = Entry(watched: watched) }
    guard entries[key]?.counters.contains(where: { $0.name.isEqual(to: name) }) == false else { return }
    entries[key]?.counters.append(WatchCounter(name: name))
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
  mutating func count(
    _ object: AnyObject,
    _ name: StaticString,
    turn: UInt64,
    of source: any TurnSource,
    limits: Limits
  ) -> Finding? {
    guard let index = entries.index(forKey: ObjectIdentifier(object)) else { return nil }
    return entries.values[index].count(object, name, turn: turn, of: source, limits: limits)
  }

  mutating func markReported(_ key: ObjectIdentifier, _ name: StaticString) {
    guard let index = entries[key]?.counters.firstIndex(where: { $0.name.isEqual(to: name) }) else { return }
    entries[key]?.counters[index].wasReported = true
  }

  func largestCount(of object: AnyObject, _ name: StaticString) -> Int {
    guard let entry = entries[ObjectIdentifier(object)], entry.watched.object === object else { return 0 }
    return entry.counters.first { $0.name.matches(name) }?.largest ?? 0
  }
}

extension WatchList.Entry {
  fileprivate mutating func count(
    _ object: AnyObject,
    _ name: StaticString,
    turn: UInt64,
    of source: any TurnSource,
    limits: WatchList.Limits
  ) -> WatchList.Finding? {
    guard watched.object === object else { return nil }
    guard let index = counters.firstIndex(where: { $0.name.matches(name) }) else {
      unmatched += 1
      guard unmatched == limits.threshold, let first = counters.first, counters.allSatisfy({ $0.largest == 0 }) else {
        return nil
      }
      return .unmatchedName(watched: first.name)
    }
    guard let cause = counters[index].add(turn, of: source, limits) else { return nil }
    return .loop(counters[index], cause)
  }
}

/// The calls of one function of an object.
struct WatchCounter {
  let name: StaticString
  private(set) var largest = 0
  var wasReported = false

  /// The turn of the latest call.
  private(set) var latest = WatchTurn(number: 0)
  /// Other turns that go on, as those of other tasks.
  private var others: [UInt64: WatchTurn] = [:]
  /// The number of other turns above which those that have ended are removed.
  private var sweepThreshold = 16

  init(name: StaticString) {
    self.name = name
  }

  /// Counts a call.
  ///
  /// - Returns: Why the call is to be reported; nil if it is not.
  fileprivate mutating func add(_ turn: UInt64, of source: any TurnSource, _ limits: WatchList.Limits)
    -> LoopEvent.Cause?
  {
    if latest.number != turn || latest.count == 0 || turn == .max { enter(turn, of: source) }
    let cause = latest.add(limits)
    largest = max(largest, latest.count)
    return cause
  }

  private mutating func enter(_ turn: UInt64, of source: any TurnSource) {
    if latest.count > 0, latest.number != .max, !source.hasEnded(latest.number) { others[latest.number] = latest }
    latest = (turn == .max ? nil : others.removeValue(forKey: turn)) ?? WatchTurn(number: turn)
    guard others.count > sweepThreshold else { return }
    others = others.filter { !source.hasEnded($0.key) }
    sweepThreshold = max(16, others.count * 2)
  }
}

/// The calls in one turn.
struct WatchTurn {
  let number: UInt64
  private(set) var count = 0
  private(set) var rssAtStart: UInt64 = 0
  /// The earliest time of the next reading of memory, in nanoseconds since boot.
  private var nextReading: UInt64 = 0
  private var hasGrown = false

  /// The time between readings of memory, in nanoseconds: a reading takes 6 µs, 0.6 % of a loop's time.
  private static let interval: UInt64 = 1_000_000

  init(number: UInt64) {
    self.number = number
  }

  fileprivate mutating func add(_ limits: WatchList.Limits) -> LoopEvent.Cause? {
    count += 1
    // A call outside of any turn is the only one of its turn.
    if count == 1 && number != .max { rssAtStart = ProcessMemory.resident() }
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
    return ProcessMemory.resident() >= rssAtStart + growth
  }
}

extension StaticString {
  /// Compares names by content: the same literal has another address in another module.
  fileprivate func isEqual(to other: StaticString) -> Bool {
    guard hasPointerRepresentation, other.hasPointerRepresentation else { return description == other.description }
    return utf8CodeUnitCount == other.utf8CodeUnitCount
      && (utf8Start == other.utf8Start || memcmp(utf8Start, other.utf8Start, utf8CodeUnitCount) == 0)
  }

  /// Whether a call by this name, such as `update(_:)` from `#function`, is one of the function of another name, such as
  /// `update`: parameters count only if both names have them.
  fileprivate func matches(_ other: StaticString) -> Bool {
    if isEqual(to: other) { return true }
    let (mine, others) = (baseLength, other.baseLength)
    guard mine == others, hasPointerRepresentation, other.hasPointerRepresentation else { return false }
    return (mine == utf8CodeUnitCount || others == other.utf8CodeUnitCount)
      && memcmp(utf8Start, other.utf8Start, mine) == 0
  }

  /// The length of the name without its parameters.
  private var baseLength: Int {
    guard hasPointerRepresentation, let end = memchr(utf8Start, 0x28, utf8CodeUnitCount) else {
      return utf8CodeUnitCount
    }
    return UnsafeRawPointer(utf8Start).distance(to: end)
  }
}

#endif
