import LinuxSystem
import Synchronization

/// Calls a function for each item, on several threads.
enum SideBySide {
  /// The values in order of the items; nil if one of them is nil: then no further item is begun.
  ///
  /// With a `width` of 1, the caller's thread does everything; it also goes on alone where no thread can be started.
  static func map<Item: Sendable, Value: Sendable>(
    _ items: [Item], on width: Int, _ body: @escaping @Sendable (Item) -> Value?
  ) -> [Value]? {
    let work = Work(items, body)
    let threads = (1..<max(1, min(width, items.count))).compactMap { _ in
      try? PosixThread(named: "hw-job") { work.run() }
    }
    work.run()
    for thread in threads { thread.join() }
    return work.values
  }

  /// The items that are left, and the values of the others.
  private final class Work<Item: Sendable, Value: Sendable>: Sendable {
    private let items: [Item]
    private let body: @Sendable (Item) -> Value?
    private let state: Mutex<(next: Int, values: [Value?])>

    init(_ items: [Item], _ body: @escaping @Sendable (Item) -> Value?) {
      (self.items, self.body) = (items, body)
      state = Mutex((0, items.map { _ in nil }))
    }

    /// Takes one item after the other until none is left.
    func run() {
      while let index = next() {
        guard let value = body(items[index]) else { return stop() }
        state.withLock { $0.values[index] = value }
      }
    }

    private func next() -> Int? {
      state.withLock { state in
        guard state.next < items.count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
    }

    private func stop() {
      state.withLock { $0.next = items.count }
    }

    /// nil if a value is missing.
    var values: [Value]? {
      let values = state.withLock { $0.values.compactMap(\.self) }
      return values.count == items.count ? values : nil
    }
  }
}
