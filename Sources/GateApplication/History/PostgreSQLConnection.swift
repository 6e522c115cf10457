import Dispatch
import GateCore
import Glibc
import LinuxSystem
import Synchronization

private import CPostgreSQL

/// A connection to a PostgreSQL server, whose calls never wait longer than they may.
///
/// libpq is used without blocking; it blocks only while it connects (names are resolved, tickets fetched), which another
/// thread does.
final class PostgreSQLConnection {
  private let libpq: hw_pq
  private let handle: OpaquePointer
  private(set) var time: WaitingTime
  /// Whether the server has not answered in time, or has closed the connection.
  var isLost = false

  private init(_ libpq: hw_pq, _ handle: OpaquePointer, _ time: WaitingTime) {
    (self.libpq, self.handle, self.time) = (libpq, handle, time)
  }

  deinit {
    libpq.finish(handle)
  }

  /// Runs statements that are separated by semicolons; returns the rows of the last one that has any.
  @discardableResult
  func run(_ statements: String) throws -> PostgreSQLRows {
    try results { libpq.sendQuery(handle, statements) }
  }

  /// Runs one statement with the parameters `$1`, `$2` and so on.
  @discardableResult
  func run(_ statement: String, _ parameters: [String?]) throws -> PostgreSQLRows {
    let copies = parameters.map { $0.map { strdup($0) } }
    defer { for copy in copies { free(copy ?? nil) } }
    let values = copies.map { UnsafePointer($0 ?? nil) }
    return try results {
      libpq.sendQueryParams(handle, statement, Int32(values.count), nil, values, nil, nil, 0)
    }
  }

  /// The most that a server may send as the answer to one statement, in bytes.
  ///
  /// Our largest answers take some 10 MB. libpq keeps all of one, and needs up to four times as much memory for it.
  static let largestAnswer: UInt64 = 64 << 20

  private func results(_ send: () -> Int32) throws -> PostgreSQLRows {
    let receivedBefore = hw_pq_received(libpq.socket(handle))
    return try waiting { end in
      guard !isLost, send() == 1 else { throw lost() }
      try flush(until: end)
      var rows: PostgreSQLRows?
      var failure: PostgreSQLError?
      while let result = try nextResult(until: end, after: receivedBefore) {
        if let error = result.error {
          // After one of these libpq returns results without an end: for data to copy, or of a closed connection.
          if error.kind == .lost {
            isLost = true
            throw error
          }
          failure = failure ?? error
        }
        if result.hasRows { rows = result }
      }
      if let failure { throw failure }
      return rows ?? PostgreSQLRows(libpq, nil)
    }
  }

  private func flush(until end: ContinuousClock.Instant) throws {
    while true {
      let code = libpq.flush(handle)
      if code == 0 { return }
      guard code > 0 else { throw lost() }
      // A server that sends a notice while it is sent something must be read, or both wait.
      let ready = try wait(POLLIN | POLLOUT, until: end)
      if ready & POLLIN != 0, libpq.consumeInput(handle) != 1 { throw lost() }
    }
  }

  private func nextResult(until end: ContinuousClock.Instant, after received: UInt64) throws -> PostgreSQLRows? {
    while libpq.isBusy(handle) == 1 {
      _ = try wait(POLLIN, until: end)
      guard libpq.consumeInput(handle) == 1 else { throw lost() }
      guard hw_pq_received(libpq.socket(handle)) <= received + Self.largestAnswer else {
        isLost = true
        throw PostgreSQLError(.tooLarge, "sent more than \(Self.largestAnswer >> 20) MiB as one answer")
      }
    }
    return libpq.getResult(handle).map { PostgreSQLRows(libpq, $0) }
  }

  private func wait(_ events: Int32, until end: ContinuousClock.Instant) throws -> Int32 {
    guard let ready = poll(libpq.socket(handle), events, until: end) else {
      isLost = true
      throw PostgreSQLError(timeout: time.limit)
    }
    return ready
  }

  private func lost() -> PostgreSQLError {
    isLost = true
    return PostgreSQLError(.lost, libpq.message(of: handle))
  }

  /// Waits before another attempt.
  func pause(_ duration: Duration) {
    usleep(UInt32(duration / .microseconds(1)))
    time.spend(duration)
  }

  /// Calls `body` with the end of the time that it may wait.
  private func waiting<Value>(_ body: (_ end: ContinuousClock.Instant) throws -> Value) rethrows -> Value {
    let start = ContinuousClock.now
    defer { time.spend(.now - start) }
    return try body(start + time.left)
  }
}

// MARK: - Connecting

extension PostgreSQLConnection {
  /// Connects in the given time.
  static func open(_ url: String, _ time: WaitingTime) throws -> PostgreSQLConnection {
    guard let libpq = hw_pq_load()?.pointee else { throw PostgreSQLError(.noLibrary, "") }
    let (start, attempt) = (ContinuousClock.now, ConnectionAttempt(url, limit: time.limit))
    let end = start + time.left
    do throws(ErrorNumber) {
      try PosixThread(named: "hw-postgresql") { attempt.run(until: end) }.detach()
    } catch {
      throw PostgreSQLError(.unreachable, "cannot start a thread: \(error.text)")
    }
    let handle = try attempt.result(until: end)
    var time = time
    time.spend(.now - start)
    return PostgreSQLConnection(libpq, handle, time)
  }
}

/// An attempt to connect, in another thread.
private final class ConnectionAttempt: Sendable {
  private enum State {
    case running
    case failed(PostgreSQLError)
    case connected(UInt)
    /// Nobody waits for it any more.
    case abandoned
  }

  private let url: String
  private let limit: Duration
  private let state = Mutex(State.running)
  private let done = DispatchSemaphore(value: 0)

  init(_ url: String, limit: Duration) {
    (self.url, self.limit) = (url, limit)
  }

  func run(until end: ContinuousClock.Instant) {
    guard let libpq = hw_pq_load()?.pointee else { preconditionFailure("the caller has loaded the library") }
    let outcome: State
    do {
      outcome = .connected(UInt(bitPattern: try connect(libpq, until: end)))
    } catch let error as PostgreSQLError {
      outcome = .failed(error)
    } catch {
      outcome = .failed(PostgreSQLError(.unreachable, "\(error)"))
    }
    let isAbandoned = state.withLock { state in
      if case .abandoned = state { return true }
      state = outcome
      return false
    }
    if isAbandoned, case .connected(let handle) = outcome { libpq.finish(OpaquePointer(bitPattern: handle)) }
    done.signal()
  }

  func result(until end: ContinuousClock.Instant) throws -> OpaquePointer {
    let left = max(.zero, end - .now)
    _ = done.wait(timeout: .now() + .milliseconds(Int(left / .milliseconds(1)) + 50))
    let state = state.withLock { state in
      defer { if case .running = state { state = .abandoned } }
      return state
    }
    switch state {
    case .connected(let handle):
      guard let handle = OpaquePointer(bitPattern: handle) else { preconditionFailure("it is not null") }
      return handle
    case .failed(let error): throw error
    case .running, .abandoned:
      throw PostgreSQLError(timeout: limit)
    }
  }

  private func connect(_ libpq: hw_pq, until end: ContinuousClock.Instant) throws -> OpaquePointer {
    let options = try ConnectionOptions(url, libpq)
    let handle = options.withKeywords { libpq.connectStartParams($0, $1, 1) }
    guard let handle else { throw PostgreSQLError(.unreachable, "out of memory") }
    do {
      try connect(handle, libpq, until: end)
      _ = libpq.setnonblocking(handle, 1)
      // Without a receiver libpq prints notices.
      _ = libpq.setNoticeReceiver(handle, { _, _ in }, nil)
      return handle
    } catch {
      libpq.finish(handle)
      throw error
    }
  }

  private func connect(_ handle: OpaquePointer, _ libpq: hw_pq, until end: ContinuousClock.Instant) throws {
    var next = HW_PQ_POLLING_WRITING
    while libpq.status(handle) != Int32(HW_PQ_CONNECTION_BAD) {
      let events = next == HW_PQ_POLLING_READING ? POLLIN : POLLOUT
      guard poll(libpq.socket(handle), events, until: end) != nil else {
        throw PostgreSQLError(timeout: limit)
      }
      next = Int(libpq.connectPoll(handle))
      if next == HW_PQ_POLLING_OK { return }
      if next == HW_PQ_POLLING_FAILED { break }
    }
    throw PostgreSQLError(.unreachable, libpq.message(of: handle))
  }
}

/// The options of a connection besides those of its URL.
private struct ConnectionOptions {
  private var words: [(keyword: String, value: String)]

  init(_ url: String, _ libpq: hw_pq) throws {
    let given = Self.values(libpq, libpq.conninfoParse(url, nil))
    guard let given else { throw PostgreSQLError(.unreachable, "is not a URL that libpq understands") }
    let known = Self.values(libpq, libpq.conndefaults()) ?? [:]
    words = [("fallback_application_name", Tool.name), ("client_encoding", "UTF8")]
    let host = given["host"] ?? given["hostaddr"] ?? known["host"] ?? known["hostaddr"] ?? ""
    let isDecided =
      given["sslmode"] != nil || given["service"] != nil || known["service"] != nil
      || getenv("PGSSLMODE") != nil
    if !isDecided, !Self.isLocal(host) { words.append(("sslmode", "require")) }
    words.append(("dbname", url))
  }

  private static func values(_ libpq: hw_pq, _ options: UnsafeMutablePointer<hw_pq_option>?) -> [String: String]? {
    guard let options else { return nil }
    defer { libpq.conninfoFree(options) }
    var values: [String: String] = [:]
    var next = options
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.val { values[String(cString: keyword)] = String(cString: value) }
      next += 1
    }
    return values
  }

  /// Whether all hosts are this machine: a folder of sockets, or the loopback interface.
  private static func isLocal(_ hosts: String) -> Bool {
    hosts.split(separator: ",").allSatisfy { host in
      host.first == "/" || host.first == "@" || host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  func withKeywords<Value>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Value
  ) -> Value {
    let (keywords, values) = (words.map { strdup($0.keyword) }, words.map { strdup($0.value) })
    defer { for text in keywords + values { free(text) } }
    return body(keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
  }
}

extension hw_pq {
  /// The first line of the connection's last error.
  fileprivate func message(of handle: OpaquePointer) -> String {
    let text = errorMessage(handle).map { String(cString: $0) } ?? ""
    return text.split(separator: "\n").first.map(String.init) ?? "the connection was closed"
  }
}

/// Waits until a socket is ready (`poll(2)`); returns for what, or nil after the end.
private func poll(_ socket: Int32, _ events: Int32, until end: ContinuousClock.Instant) -> Int32? {
  while true {
    let left = end - .now
    guard left > .zero else { return nil }
    var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
    let count = Glibc.poll(&descriptor, 1, Int32(clamping: Int(left / .milliseconds(1)) + 1))
    if count > 0 { return Int32(descriptor.revents) }
    if count < 0, errno != EINTR { return events }
  }
}

// MARK: - Rows

/// The rows that a statement returned; all values are texts.
final class PostgreSQLRows {
  private let libpq: hw_pq
  private let result: OpaquePointer?

  fileprivate init(_ libpq: hw_pq, _ result: OpaquePointer?) {
    (self.libpq, self.result) = (libpq, result)
  }

  deinit {
    libpq.clear(result)
  }

  var count: Int { result.map { Int(libpq.ntuples($0)) } ?? 0 }

  fileprivate var hasRows: Bool { result.map { libpq.resultStatus($0) == Int32(HW_PQ_TUPLES_OK) } ?? false }

  fileprivate var error: PostgreSQLError? {
    guard let result, ![HW_PQ_COMMAND_OK, HW_PQ_TUPLES_OK].map({ Int32($0) }).contains(libpq.resultStatus(result))
    else { return nil }
    func field(_ code: Int) -> String? { libpq.resultErrorField(result, Int32(code)).map { String(cString: $0) } }
    guard let state = field(HW_PQ_SQLSTATE) else {
      let isClosed = libpq.resultStatus(result) == Int32(HW_PQ_FATAL_ERROR)
      return PostgreSQLError(
        .lost, isClosed ? "the connection was closed" : "the server sent an answer of another kind")
    }
    return PostgreSQLError(.server(state: state), field(HW_PQ_PRIMARY_MESSAGE) ?? "error \(state)")
  }

  func map<Value>(_ read: (PostgreSQLRow) throws -> Value) rethrows -> [Value] {
    try (0..<count).map { try read(PostgreSQLRow(rows: self, index: Int32($0))) }
  }

  func forEach(_ body: (PostgreSQLRow) throws -> Void) rethrows {
    for index in 0..<count { try body(PostgreSQLRow(rows: self, index: Int32(index))) }
  }

  /// Null-terminated; valid as long as the rows are.
  fileprivate func value(_ row: Int32, _ column: Int32) -> UnsafePointer<CChar>? {
    guard let result, libpq.getisnull(result, row, column) == 0 else { return nil }
    return UnsafePointer(libpq.getvalue(result, row, column))
  }
}

/// One row; valid as long as its rows are.
struct PostgreSQLRow: StoredRow {
  fileprivate let rows: PostgreSQLRows
  fileprivate let index: Int32

  func integer(_ column: Int32) -> Int64 { optionalInteger(column) ?? 0 }

  func optionalInteger(_ column: Int32) -> Int64? { rows.value(index, column).map { Int64(strtoll($0, nil, 10)) } }

  func optionalNumber(_ column: Int32) -> Double? { rows.value(index, column).map { strtod($0, nil) } }

  func optionalText(_ column: Int32) -> String? { rows.value(index, column).map { String(cString: $0) } }

  /// Calls `body` with the null-terminated bytes of a column; nil if it is null.
  func withBytes<Value>(_ column: Int32, _ body: (UnsafePointer<CChar>) throws -> Value) rethrows -> Value? {
    try withExtendedLifetime(rows) { try rows.value(index, column).map(body) }
  }
}
