#if LoopHunter

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Detects endless loops across calls, such as an observer that changes what it observes, or an endless retry.
///
/// Such a loop never returns; the CPU is busy, memory grows, and nothing crashes. A hunter counts the calls for a watched
/// object within one turn of the program's work, and reports when they reach a threshold:
///
///     let hunter = LoopHunter(turn: ManualTurn()) { print("loop: \($0.typeName).\($0.name)") }
///     hunter.watch(model, "update")
///     // in the model:
///     hunter.hit(self, "update")
///
/// A turn belongs to its task or thread, as the ``TurnSource`` says: concurrent turns are counted apart. Objects are not
/// kept alive, and a call for an unwatched object costs one relaxed load. The first call for a watched object in a turn
/// reads `/proc/self/statm`, which takes microseconds; with a growth limit, one call a millisecond does.
/// Under Highwater a loop is also sent as `value loop.TYPE.NAME COUNT calls`.
public final class LoopHunter: Sendable {
  /// How often one function of one object is reported.
  public enum Notify: Sendable {
    /// Once in each turn.
    case oncePerTurn
    /// Only once.
    case onceEver
  }

  private static let enabled = AtomicWord(1)

  /// The kill switch: if it is false, no hunter counts or reports anything.
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
  /// Protected by the lock.
  private nonisolated(unsafe) var list = WatchList()
  /// The number of entries above which those of released objects are removed; protected by the lock.
  private nonisolated(unsafe) var sweepThreshold = 64

  /// Creates a hunter.
  ///
  /// - Parameters:
  ///   - threshold: The number of calls in a turn that is reported; at least 1.
  ///   - growth: Also reports when resident memory has grown by this many bytes since the object's first call in the turn;
  ///     nil for no limit. It is the memory of the whole process, including the work of other threads.
  ///   - turn: What a turn is.
  ///   - notify: How often the same function of the same object is reported.
  ///   - onLoop: Called on the thread of the call, without any lock held. Calls of ``hit(_:_:)`` in it are counted, but
  ///     not reported.
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

  /// Watches a function of an object, until the object is released or ``unwatch(_:)`` is called.
  ///
  /// - Parameters:
  ///   - object: The object; it is not kept alive.
  ///   - name: The name that is passed to ``hit(_:_:)``, with or without the parameters of `#function`: `update` is also
  ///     `update(_:)`. An object may have several.
  public func watch(_ object: AnyObject, _ name: StaticString) {
    let watched = WatchedObject(object)
    let key = ObjectIdentifier(object)
    let isFull = lock.withLock {
      list.add(watched, key, name)
      filter.insert(key)
      return list.entries.count > sweepThreshold
    }
    if isFull { sweep() }
  }

  /// Stops watching an object.
  public func unwatch(_ object: AnyObject) {
    let key = ObjectIdentifier(object)
    lock.withLock {
      if list.entries[key]?.watched.object === object { list.remove(key) }
      filter.replace(with: list.objects)
    }
  }

  /// Counts a call for an object.
  ///
  /// If a watched object is called `threshold` times by other names only, a warning on standard error says so, once.
  ///
  /// - Parameters:
  ///   - object: The object; nothing happens if it is not watched.
  ///   - name: The name of the function.
  public func hit(_ object: AnyObject, _ name: StaticString = #function) {
    guard filter.mayContain(ObjectIdentifier(object)), Self.isEnabled else { return }
    let number = turn.currentTurn()
    switch lock.withLock({ list.count(object, name, turn: number, of: turn, limits: limits) }) {
    case nil: break
    case .loop(let counter, let cause): report(counter, cause, of: object)
    case .unmatchedName(let watched):
      let type = String(describing: type(of: object))
      Warning.print("LoopHunter: \(type) is watched as `\(watched)`, but only called as `\(name)`: nothing is counted")
    }
  }

  /// The most calls of a watched function in one turn; 0 if it is not watched.
  public func largestCount(of object: AnyObject, _ name: StaticString) -> Int {
    lock.withLock { list.largestCount(of: object, name) }
  }

  /// Reports a loop, unless this thread reports one already.
  private func report(_ counter: WatchCounter, _ cause: LoopEvent.Cause, of object: AnyObject) {
    guard notify == .oncePerTurn || !counter.wasReported else { return }
    let thread = Context.thread
    guard lock.withLock({ list.reportingThreads.insert(thread).inserted }) else { return }
    lock.withLock { list.markReported(ObjectIdentifier(object), counter.name) }
    let (type, name) = (String(describing: type(of: object)), counter.name.description)
    Marks.value("loop.\(type).\(name)", Double(counter.latest.count), unit: "calls")
    onLoop(
      LoopEvent(
        cause: cause, name: name, typeName: type, count: counter.latest.count, turn: counter.latest.number,
        rssAtTurnStart: counter.latest.rssAtStart, rssNow: ProcessMemory.resident()
      )
    )
    lock.withLock { _ = list.reportingThreads.remove(thread) }
  }

  /// Removes the entries of released objects.
  ///
  /// Weak references are read without the lock: another thread may drop the last strong reference in the meantime, and
  /// the object's `deinit`, which may call the hunter, then runs here.
  private func sweep() {
    let watched = lock.withLock { list.entries.mapValues(\.watched) }
    let released = watched.filter { $0.value.object == nil }
    lock.withLock {
      list.remove(released)
      filter.replace(with: list.objects)
      sweepThreshold = max(64, list.entries.count * 2)
    }
  }
}

#endif
