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
  /// The calls of one place in one turn.
  struct Counter {
    let name: StaticString
    var turn: UInt64?
    var rssAtTurnStart: UInt64 = 0
    var count = 0
    var largest = 0
    var hasFired = false
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
  /// - Returns: The counter as it is now; nil where the object, or this place of it, is not watched.
  mutating func count(_ object: AnyObject, _ name: StaticString, turn: UInt64) -> Counter? {
    let key = ObjectIdentifier(object)
    guard let entry = entries[key], entry.watched.object === object, let index = index(of: name, at: key) else {
      return nil
    }
    var counter = entry.counters[index]
    if counter.turn != turn {
      counter.turn = turn
      counter.count = 0
      counter.rssAtTurnStart = ProcessMemory.resident()
    }
    counter.count += 1
    counter.largest = max(counter.largest, counter.count)
    entries[key]?.counters[index] = counter
    return counter
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

extension StaticString {
  fileprivate func isEqual(to other: StaticString) -> Bool {
    guard hasPointerRepresentation, other.hasPointerRepresentation else { return description == other.description }
    return utf8CodeUnitCount == other.utf8CodeUnitCount
      && (utf8Start == other.utf8Start
        || UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
          .elementsEqual(UnsafeBufferPointer(start: other.utf8Start, count: utf8CodeUnitCount)))
  }
}
