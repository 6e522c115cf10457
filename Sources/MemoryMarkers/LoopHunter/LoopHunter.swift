import Glibc
import Synchronization

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
/// watched object in a turn reads `/proc/self/statm`, which takes microseconds. Under Highwater's gate a loop is also
/// sent as `value loop.TYPE.NAME COUNT calls`.
public final class LoopHunter: Sendable {
  /// How often one place of one object may be told of.
  public enum Notify: Sendable {
    /// In each turn once.
    case oncePerTurn
    /// Once at all.
    case onceEver
  }

  private static let enabled = Atomic<Bool>(true)

  /// The kill switch: where it is false, no hunter counts or tells anything.
  public static var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  private let threshold: Int
  private let turn: any TurnSource
  private let notify: Notify
  private let onLoop: @Sendable (LoopEvent) -> Void
  private let filter = WatchFilter()
  private let list = Mutex(WatchList())
  /// How many entries there may be before those of dead objects are looked for.
  private let roomBeforeSweep = Atomic<Int>(64)

  /// Hunts for loops.
  ///
  /// - Parameters:
  ///   - threshold: The call of a turn that is told of; at least 1.
  ///   - turn: What a turn is.
  ///   - notify: How often the same place of the same object is told of.
  ///   - onLoop: Called by the thread that made the call, without any lock held. Calls of ``hit(_:_:)`` in it are counted,
  ///     but not told of.
  public init(
    threshold: Int = 100,
    turn: any TurnSource,
    notify: Notify = .oncePerTurn,
    onLoop: @escaping @Sendable (LoopEvent) -> Void
  ) {
    self.threshold = max(1, threshold)
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
    let count = list.withLock { list in
      list.add(watched, key, name)
      filter.insert(key)
      return list.entries.count
    }
    if count > roomBeforeSweep.load(ordering: .relaxed) { sweep() }
  }

  /// Watches an object no longer, with all its places.
  public func unwatch(_ object: AnyObject) {
    let key = ObjectIdentifier(object)
    list.withLock { list in
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
    let found: WatchList.Counter? = list.withLock { list in
      guard let counter = list.count(object, name, turn: turn), counter.count == threshold,
        notify == .oncePerTurn || !counter.hasFired, list.reporting.insert(thread).inserted
      else { return nil }
      list.noteFiring(key, name)
      return counter
    }
    guard let found else { return }
    tell(of: found, turn: turn, typeName: String(describing: type(of: object)))
    list.withLock { _ = $0.reporting.remove(thread) }
  }

  /// The most calls that a watched place has had in one turn; 0 where it is not watched.
  public func largestCount(of object: AnyObject, _ name: StaticString) -> Int {
    let key = ObjectIdentifier(object)
    return list.withLock { $0.largestCount(key, name) }
  }

  private func tell(of counter: WatchList.Counter, turn: UInt64, typeName: String) {
    let name = counter.name.description
    Marks.value("loop.\(typeName).\(name)", Double(counter.count), unit: "calls")
    onLoop(
      LoopEvent(
        name: name, typeName: typeName, count: counter.count, turn: turn, rssAtTurnStart: counter.rssAtTurnStart,
        rssNow: ProcessMemory.resident()
      )
    )
  }

  /// Removes the entries of objects that are gone.
  ///
  /// Looked at without the lock: the last reference to an object may be given up meanwhile, and its `deinit`, which may
  /// call the hunter, then runs here.
  private func sweep() {
    let watched = list.withLock { $0.entries.mapValues(\.watched) }
    let gone = watched.filter { $0.value.object == nil }
    list.withLock { list in
      list.remove(gone)
      filter.replace(with: list.objects)
      roomBeforeSweep.store(max(64, list.entries.count * 2), ordering: .relaxed)
    }
  }
}
