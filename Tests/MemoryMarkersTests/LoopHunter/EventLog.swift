import MemoryMarkers
import Synchronization

/// An object to watch.
final class Model: Sendable {}

/// The events that a hunter has reported.
final class EventLog: Sendable {
  private let list = Mutex<[LoopEvent]>([])

  var events: [LoopEvent] { list.withLock { $0 } }

  var count: Int { events.count }

  func add(_ event: LoopEvent) { list.withLock { $0.append(event) } }
}

extension LoopHunter {
  convenience init(
    threshold: Int = 100,
    growth: UInt64? = nil,
    _ turn: any TurnSource,
    notify: Notify = .oncePerTurn,
    _ log: EventLog
  ) {
    self.init(threshold: threshold, growth: growth, turn: turn, notify: notify) { log.add($0) }
  }

  func hit(_ object: AnyObject, _ name: StaticString, times: Int) {
    for _ in 0..<times { hit(object, name) }
  }
}
