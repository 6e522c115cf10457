#if LaunchReason

import CLaunchReason
import Glibc
import LaunchRecords

/// The door to the C room behind LaunchReason: what it tells, as values.
enum LaunchRoom {
  // MARK: Launches

  /// Has handlers mark this process's end in words of a mapped page, which stays mapped for as long as it lives.
  ///
  /// - Parameters:
  ///   - page: The page, with the words at the places that ``LaunchPage`` names.
  ///   - file: Its file.
  ///   - tag: Of the run.
  static func watch(_ page: UnsafeMutableRawBufferPointer, file: CInt, tag: UInt32) {
    guard let start = page.baseAddress else { return }
    func word(_ place: Int) -> UnsafeMutablePointer<UInt64> { (start + place).assumingMemoryBound(to: UInt64.self) }
    _ = hw_launch_watch(
      hw_launch_words(
        crash: word(LaunchPage.crashWord), exit: word(LaunchPage.exitWord), request: word(LaunchPage.requestWord),
        tag: tag, page: start, size: page.count, file: file
      )
    )
  }

  /// Whether this process was forked from the one that is watched.
  static var hasForked: Bool { hw_launch_has_forked() != 0 }

  static func installSignalHandlers() { hw_launch_install_handlers() }

  /// The ELF build id of the program, in hexadecimal digits; empty where it has none.
  static var buildID: String { text(65) { hw_build_id($0, $1) } }

  /// The path of a program's launch record; nil where no folder can be found.
  static func recordPath(in folder: String?, of instance: String?) -> String? {
    let path = text(Int(PATH_MAX)) { place, room in
      withC(folder) { folder in withC(instance) { hw_record_path(folder, $0, place, room) } }
    }
    return path.isEmpty ? nil : path
  }

  /// Opens the file of a launch record; -1 and `errno` where it cannot be had.
  static func openRecord(_ path: String) -> CInt { withC(path) { hw_record_open($0) } }

  /// Whether the program is a host of unit tests, as its name says.
  static var isTestHost: Bool { hw_is_test_host() != 0 }

  /// A number that nobody can foresee.
  static var random: UInt32 { hw_random() }

  /// Makes the folders above a path that are missing, for their user only.
  ///
  /// - Returns: The one that could not be made, with the error number; nil where all is well.
  static func makeFolders(above path: String) -> (folder: String, code: CInt)? {
    var code: CInt = 0
    let failed = text(Int(PATH_MAX)) { place, room in
      withC(path) { code = hw_make_folders($0, place, room) }
      return strlen(place)
    }
    return code == 0 ? nil : (failed, code)
  }

  // MARK: Small files

  /// The first word of a file, at most 255 bytes; empty where there is none.
  static func word(in folder: String, _ name: StaticString) -> String {
    text(256) { place, room in withC(folder) { hw_file_word($0, c(name), nil, 0, place, room) } }
  }

  /// A number of the first line that begins with that word.
  static func number(in folder: String, _ name: StaticString, of key: StaticString, at index: Int) -> UInt64? {
    known { number in withC(folder) { hw_file_number($0, c(name), c(key), index, number) } }
  }

  /// The name of the system with a digest of its whole description; nil where the file cannot be read.
  static func osRelease(in path: String) -> String? {
    let text = text(161) { place, room in withC(path) { hw_os_release($0, place, room) } }
    return text.isEmpty ? nil : text
  }

  /// The share of the last ten seconds in which all tasks of a cgroup waited for memory, in percent, or of the machine,
  /// by its `/proc`; nil where the kernel tells none.
  static func pressure(in folder: String) -> Double? {
    var share = 0.0
    return withC(folder) { hw_pressure($0, &share) } != 0 ? share : nil
  }

  /// The pid and start, in clock ticks since boot, of the process with that folder, if it is no zombie.
  static func identity(in folder: String) -> (pid: Int32, startTime: UInt64)? {
    var (pid, start): (Int32, UInt64) = (0, 0)
    return withC(folder) { hw_process_identity($0, &pid, &start) } != 0 ? (pid, start) : nil
  }

  /// Whether a process with this pid and start lives, by that `/proc`.
  static func lives(_ pid: Int32, since start: UInt64, in proc: String) -> Bool {
    withC(proc) { hw_process_lives($0, pid, start) } != 0
  }

  // MARK: Memory cgroups

  /// The folder of a process's memory cgroup; empty where no hierarchy that counts memory can be seen.
  ///
  /// - Parameter own: The process's folder in `/proc`.
  /// - Returns: The folder.
  static func memoryCgroup(of own: String) -> String {
    text(1024) { place, room in withC(own) { hw_memory_cgroup($0, place, room) } }
  }

  /// The lowest limit of the cgroup and of those above it that can be seen, in bytes; nil where there is none.
  static func memoryLimit(of folder: String) -> UInt64? {
    known { limit in withC(folder) { hw_memory_limit($0, limit) } }
  }

  /// How many processes of the cgroup were killed for want of memory; nil where that is not counted.
  static func oomKills(of folder: String) -> UInt64? {
    known { kills in withC(folder) { hw_oom_kills($0, kills) } }
  }

  // MARK: The kernel's log

  /// Whose want of memory a process was killed for; nil where the log names it not, or may not be read.
  ///
  /// - Parameters:
  ///   - pid: The process.
  ///   - microseconds: When it was started, since boot.
  ///   - path: The log.
  /// - Returns: The kind, or nil.
  static func kill(of pid: Int32, since microseconds: UInt64, in path: String) -> OOMKind? {
    kind(withC(path) { hw_log_kill($0, pid, microseconds) })
  }

  /// The same of one record.
  static func kill(of pid: Int32, since microseconds: UInt64, record: String) -> OOMKind? {
    kind(withC(record) { hw_log_record_kill($0, record.utf8.count, pid, microseconds) })
  }

  private static func kind(_ code: CInt) -> OOMKind? {
    switch code {
    case 1: .ownLimit
    case 2: .systemPressure
    default: nil
    }
  }

  // MARK: To C and from C

  /// Lends a text to C, without the arrays that Swift's own conversion to `const char *` makes of it.
  private static func withC<Value>(_ text: String, _ body: (UnsafePointer<CChar>) -> Value) -> Value {
    var text = text
    return text.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { place in
        guard let start = place.baseAddress else { preconditionFailure("a place for at least one byte has an address") }
        for index in bytes.indices { place[index] = CChar(bitPattern: bytes[index]) }
        place[bytes.count] = 0
        return body(start)
      }
    }
  }

  /// A literal as C has it: it ends with a NUL.
  private static func c(_ literal: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static func withC<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
    guard let text else { return body(nil) }
    return withC(text) { (text: UnsafePointer<CChar>) in body(text) }
  }

  private static func known(_ read: (UnsafeMutablePointer<UInt64>) -> CInt) -> UInt64? {
    var number: UInt64 = 0
    return read(&number) != 0 ? number : nil
  }

  /// A text that C puts into a place of so many bytes, its NUL included, and gives the length of.
  private static func text(_ room: Int, _ fill: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) { place in
      guard let start = place.baseAddress else { return "" }
      let count = fill(start, room)
      return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }
}

#endif
