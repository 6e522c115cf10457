#if LoopHunter

import Glibc

/// Catches loops that feed themselves: an observer that changes what it observes, a retry without end.
///
/// Such a loop never returns; the CPU is busy, memory climbs, and nothing crashes. A hunter counts how often a watched
/// object comes by a place within one turn of the program's work, and tells when that is as often as the threshold:
///
///     let hunter = LoopHunter(turn: ManualTurn()) { print("loop: \($0.typeName).\($0.name)") }
///     hunter.watch(model, "update")
///     // in the model:
///     hunter.hit(self, "update")
///
/// Objects are not kept alive, and a call for one that is not watched costs one relaxed load. The first call of a
/// watched object in a turn reads `/proc/self/statm`, which takes microseconds, and so does, where the hunter looks for
/// growth, one call a millisecond. Under Highwater's gate a loop is also sent as `value loop.TYPE.NAME COUNT calls`.
public final class LoopHunter: Sendable {
  /// How often one place of one object may be told of.
  public enum Notify: Sendable {
    /// In each turn once.
    case oncePerTurn
    /// Once at all.
    case onceEver
  }

  private static let enabled = SharedWord(1)

  /// The kill switch: where it is false, no hunter counts or tells anything.
  public static var isEnabled: Bool {
    get { enabled.value != 0 }
    set { enabled.value = newValue ? 1 : 0 }
  }

  private let limits: WatchList.Limits
  private let turn: any TurnSource
  private let notify: Notify
  private let onLoop: @Sendable (LoopEvent) -> Void
  private let filter = WatchFilter()
  private let lock = Lock()
  /// Used under the lock only.
  private nonisolated(unsafe) var list = WatchList()
  /// How many entries there may be before those of dead objects are looked for; used under the lock only.
  private nonisolated(unsafe) var roomBeforeSweep = 64

  /// Hunts for loops.
  ///
  /// - Parameters:
  ///   - threshold: The call of a turn that is told of; at least 1.
  ///   - growth: Also tells of the call at which resident memory is larger by so many bytes than at the object's first
  ///     call of the turn; nil where that does not matter. Memory is the whole process's, so other threads' work counts.
  ///   - turn: What a turn is.
  ///   - notify: How often the same place of the same object is told of.
  ///   - onLoop: Called by the thread that made the call, without any lock held. Calls of ``hit(_:_:)`` in it are counted,
  ///     but not told of.
  public init(
    threshold: Int = 100,
    growth: UInt64? = nil,
    turn: any TurnSource,
    notify: Notify = .oncePerTurn,
    onLoop: @escaping @Sendable (LoopEvent) -> Void
  ) {
    limits = WatchList.Limits(threshold: max(1, threshold), growth: growth)
    self.turn = turn
    self.notify = notify
    self.onLoop = onLoop
  }

  /// Watches a place of an object, until the object is gone or ``unwatch(_:)``.
  ///
  /// - Parameters:
  ///   - object: The object; it is not kept alive.
  ///   - name: The name of the place, as ``hit(_:_:)`` has it. An object may have several.
  public func watch(_ object: AnyObject, _ name: StaticString) {
    let watched = WatchedObject(object)
    let key = ObjectIdentifier(object)
    let isFull = lock.locked {
      list.add(watched, key, name)
      filter.insert(key)
      return list.entries.count > roomBeforeSweep
    }
    if isFull { sweep() }
  }

  /// Watches an object no longer, with all its places.
  public func unwatch(_ object: AnyObject) {
    let key = ObjectIdentifier(object)
    lock.locked {
      list.remove(key)
      filter.replace(with: list.objects)
    }
  }

  /// Tells that an object has come by a place.
  ///
  /// - Parameters:
  ///   - object: The object; where it is not watched, nothing happens.
  ///   - name: The name of the place.
  public func hit(_ object: AnyObject, _ name: StaticString = #function) {
    guard filter.mayContain(ObjectIdentifier(object)), Self.isEnabled else { return }
    let turn = turn.currentTurn()
    let thread = pthread_self()
    let key = ObjectIdentifier(object)
    let found: WatchList.Finding? = lock.locked {
      guard let finding = list.count(object, name, turn: turn, limits: limits),
        notify == .oncePerTurn || !finding.hasFired, list.reporting.insert(thread).inserted
      else { return nil }
      list.noteFiring(key, name)
      return finding
    }
    guard let found else { return }
    tell(of: found, turn: turn, typeName: String(describing: type(of: object)))
    lock.locked { _ = list.reporting.remove(thread) }
  }

  /// The most calls that a watched place has had in one turn; 0 where it is not watched.
  public func largestCount(of object: AnyObject, _ name: StaticString) -> Int {
    let key = ObjectIdentifier(object)
    return lock.locked { list.largestCount(key, name) }
  }

  private func tell(of finding: WatchList.Finding, turn: UInt64, typeName: String) {
    let counter = finding.counter
    let name = counter.name.description
    Marks.value("loop.\(typeName).\(name)", Double(counter.count), unit: "calls")
    onLoop(
      LoopEvent(
        cause: finding.cause, name: name, typeName: typeName, count: counter.count, turn: turn,
        rssAtTurnStart: counter.rssAtTurnStart, rssNow: ProcessMemory.resident()
      )
    )
  }

  /// Removes the entries of objects that are gone.
  ///
  /// Looked at without the lock: the last reference to an object may be given up meanwhile, and its `deinit`, which may
  /// call the hunter, then runs here.
  private func sweep() {
    let watched = lock.locked { list.entries.mapValues(\.watched) }
    let gone = watched.filter { $0.value.object == nil }
    lock.locked {
      list.remove(gone)
      filter.replace(with: list.objects)
      roomBeforeSweep = max(64, list.entries.count * 2)
    }
  }
}

#endif
