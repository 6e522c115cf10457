#if LaunchReason && os(Linux)

import CLaunchReason
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import LaunchRecords

// The only file that imports CLaunchReason; it returns values instead of buffers and codes.

/// The handlers that mark the end of this process in its record.
enum LaunchHandlers {
  /// Lets exit handlers write marks into a mapped page, which must stay mapped as long as the process lives.
  ///
  /// - Parameters:
  ///   - page: The page, with the words at the offsets that ``LaunchPage`` defines.
  ///   - file: The descriptor of its file.
  ///   - tag: The tag of the run.
  static func watch(_ page: UnsafeMutableRawBufferPointer, file: CInt, tag: UInt32) {
    guard let start = page.baseAddress else { return }
    func word(_ offset: Int) -> UnsafeMutablePointer<UInt64> { (start + offset).assumingMemoryBound(to: UInt64.self) }
    _ = hw_launch_watch(
      hw_launch_words(
        crash: word(LaunchPage.crashWord), exit: word(LaunchPage.exitWord), request: word(LaunchPage.requestWord),
        fork: word(LaunchPage.forkWord), tag: tag, page: start, size: page.count, file: file
      )
    )
  }

  /// Notices forks from now on; called once in a process.
  static func begin() { _ = hw_launch_begin() }

  /// Whether this process was forked from the one that called ``begin()``.
  static var hasForked: Bool { hw_launch_has_forked() != 0 }

  /// Removes the marks that the process has outlived: that of a fork, and that of a request before a time.
  static func isAlive(stoppingSince time: UInt64) { hw_launch_is_alive(time) }

  static func installSignalHandlers() { hw_launch_install_handlers() }

  /// Gives the calling thread an alternate stack.
  static func prepareThread() { hw_launch_provide_stack() }
}

/// The file of a launch record.
enum LaunchRecordFile {
  /// The path; nil if no folder can be determined.
  static func path(in folder: String?, of instance: String?, number: UInt32) -> String? {
    let path = text(capacity: Int(PATH_MAX)) { buffer, size in
      withCString(folder) { folder in withCString(instance) { hw_record_path(folder, $0, number, buffer, size) } }
    }
    return path.isEmpty ? nil : path
  }

  /// Opens the file; returns -1 and sets `errno` on failure.
  static func open(_ path: String) -> CInt { withCString(path) { hw_record_open($0) } }

  /// Creates the file and locks it; returns -1 and sets `errno` on failure, to `EEXIST` if another process was faster.
  static func create(_ path: String) -> CInt { withCString(path) { hw_record_create($0) } }

  /// Creates the missing folders of a path, accessible to their user only.
  ///
  /// - Returns: The folder that could not be created, with the error number; nil on success.
  static func createFolders(of path: String) -> (folder: String, code: CInt)? {
    var code: CInt = 0
    let failed = text(capacity: Int(PATH_MAX)) { buffer, size in
      withCString(path) { code = hw_make_folders($0, buffer, size) }
      return strlen(buffer)
    }
    return code == 0 ? nil : (failed, code)
  }
}

/// The program that runs now.
enum CurrentProgram {
  /// The ELF build id in hexadecimal digits; empty if it has none.
  static var buildID: String { text(capacity: 65) { hw_build_id($0, $1) } }

  /// Whether the program is a unit test host, by its name.
  static var isTestHost: Bool { hw_is_test_host() != 0 }

  static var randomNumber: UInt32 { hw_random() }
}

/// The kernel's text files.
enum ProcFile {
  /// The first word of a file, at most 255 bytes; empty if there is none.
  static func word(in folder: String, _ name: StaticString) -> String {
    text(capacity: 256) { buffer, size in withCString(folder) { hw_file_word($0, c(name), nil, 0, buffer, size) } }
  }

  /// A number in the first line that begins with a key.
  static func number(in folder: String, _ name: StaticString, of key: StaticString, at index: Int) -> UInt64? {
    number { value in withCString(folder) { hw_file_number($0, c(name), c(key), index, value) } }
  }

  /// The inode of a file; 0 if there is none.
  static func inode(of folder: String, _ name: StaticString = "") -> UInt64 {
    withCString(folder) { hw_inode($0, c(name)) }
  }

  fileprivate static func number(_ read: (UnsafeMutablePointer<UInt64>) -> CInt) -> UInt64? {
    var number: UInt64 = 0
    return read(&number) != 0 ? number : nil
  }

  /// The name of the operating system and a digest of the whole os-release file; nil if it cannot be read.
  static func osRelease(in path: String) -> String? {
    let text = text(capacity: 161) { buffer, size in withCString(path) { hw_os_release($0, buffer, size) } }
    return text.isEmpty ? nil : text
  }

  /// The share of the last ten seconds in which all tasks waited for memory, in percent; nil if the kernel does not
  /// report it.
  ///
  /// The folder is that of a cgroup, or `/proc` for the whole machine.
  static func memoryPressure(in folder: String) -> Double? {
    var share = 0.0
    return withCString(folder) { hw_pressure($0, &share) } != 0 ? share : nil
  }

  /// The pid and the start time, in clock ticks since boot, of the process with that folder; nil for a zombie.
  static func processIdentity(in folder: String) -> (pid: Int32, startTime: UInt64)? {
    var (pid, start): (Int32, UInt64) = (0, 0)
    return withCString(folder) { hw_process_identity($0, &pid, &start) } != 0 ? (pid, start) : nil
  }

  /// Whether a process with this pid and start time is alive.
  static func isAlive(_ pid: Int32, startTime: UInt64, in proc: String) -> Bool {
    withCString(proc) { hw_process_lives($0, pid, startTime) } != 0
  }

  /// Whether a process with this pid lives that has a session of its own and did not start before.
  static func sessionLeaderLives(_ pid: Int32, since startTime: UInt64, in proc: String) -> Bool {
    withCString(proc) { hw_session_leader_lives($0, pid, startTime) } != 0
  }
}

/// The memory cgroup of a process.
enum MemoryCgroup {
  /// The folder of the cgroup of the process with that folder in `/proc`; empty if no hierarchy with the memory
  /// controller is visible.
  static func folder(of own: String) -> String {
    text(capacity: 1024) { buffer, size in withCString(own) { hw_memory_cgroup($0, buffer, size) } }
  }

  /// The lowest limit of the cgroup and its visible ancestors, in bytes; nil if there is none.
  static func limit(of folder: String) -> UInt64? {
    ProcFile.number { limit in withCString(folder) { hw_memory_limit($0, limit) } }
  }

  /// How many processes of the cgroup the OOM killer has killed; nil if the kernel does not count them.
  static func oomKills(of folder: String) -> UInt64? {
    ProcFile.number { kills in withCString(folder) { hw_oom_kills($0, kills) } }
  }
}

/// The kernel's log, `/dev/kmsg`.
enum KernelLog {
  /// What the log says about the end of a process.
  enum Kill: Equatable {
    /// Nothing: it cannot be read, or no longer has all records since the process was last known to be alive.
    case unknown
    /// The OOM killer of the kernel did not kill it.
    case none
    case named(LaunchReason.OOMKind)
  }

  /// Searches the log for an OOM kill.
  ///
  /// - Parameters:
  ///   - path: The log.
  ///   - pid: The process.
  ///   - number: That of the newest record when the process started.
  ///   - time: When the process was alive, in microseconds of the log's clock.
  /// - Returns: What the log says, and the number of its newest record; nil if it cannot be read.
  static func search(_ path: String, pid: Int32, since number: UInt64, alive time: UInt64) -> (
    kill: Kill, newest: UInt64?
  ) {
    let log = withCString(path) { hw_log_search($0, pid, number, time) }
    let kill: Kill = kind(log.kind).map { .named($0) } ?? (log.is_complete != 0 ? .none : .unknown)
    return (kill, log.is_readable != 0 ? log.newest : nil)
  }

  /// The kind of the OOM kill in one record; nil if the record does not name the process.
  static func oomKill(of pid: Int32, since number: UInt64, record: String) -> LaunchReason.OOMKind? {
    kind(withCString(record) { hw_log_record_kill($0, record.utf8.count, pid, number) })
  }

  private static func kind(_ code: CInt) -> LaunchReason.OOMKind? {
    switch code {
    case 1: .ownLimit
    case 2: .systemPressure
    default: nil
    }
  }
}

// MARK: - Strings for C and from C

/// Passes a string to C without the arrays that Swift's own conversion to `const char *` allocates.
private func withCString<Value>(_ text: String, _ body: (UnsafePointer<CChar>) -> Value) -> Value {
  var text = text
  return text.withUTF8 { bytes in
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("a buffer of at least one byte has an address") }
      for index in bytes.indices { buffer[index] = CChar(bitPattern: bytes[index]) }
      buffer[bytes.count] = 0
      return body(start)
    }
  }
}

private func withCString<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
  guard let text else { return body(nil) }
  return withCString(text) { (text: UnsafePointer<CChar>) in body(text) }
}

/// A literal as a C string: it ends with a NUL.
private func c(_ literal: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// A string that C writes into a buffer; `fill` returns its length.
private func text(capacity: Int, _ fill: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
    guard let start = buffer.baseAddress else { return "" }
    let count = fill(start, capacity)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

#endif
