import GRDB

/// An open SQLite file, closed with its last owner.
///
/// GRDB's queue itself is never released, which takes less than 2 KB: libdispatch disposes of it on another thread, and tries
/// again for ever if none can be created.
final class SQLiteConnection: Sendable {
  let queue: DatabaseQueue

  init(_ path: String, _ configuration: Configuration = Configuration()) throws {
    queue = try DatabaseQueue(path: path, configuration: configuration)
    _ = Unmanaged.passRetained(queue)
  }

  func close() { try? queue.close() }

  deinit { close() }
}
