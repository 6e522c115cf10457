import Glibc

/// The fields of `/proc/<pid>/stat` that this module uses.
struct ProcessStat: Sendable, Equatable {
  let pid: Int32
  let parent: Int32
  let session: Int32
  /// The name of the program (`comm`), at most 15 bytes; invalid UTF-8 is repaired.
  let command: String
  let state: UInt8
  let threads: Int
  /// The start in clock ticks since boot; identifies a process uniquely, together with the pid.
  let startTick: UInt64

  /// Returns nil if there is no such process.
  init?(of pid: Int32) {
    guard let text = SmallFile.bytes(at: "/proc/\(pid)/stat", atMost: 1024) else { return nil }
    self.init(parsing: text)
  }

  /// The name is in parentheses and may contain any byte; the last `)` ends it.
  init?(parsing text: [UInt8]) {
    guard let open = text.firstIndex(of: UInt8(ascii: "(")), let close = text.lastIndex(of: UInt8(ascii: ")")),
      open < close
    else { return nil }
    let fields = text[(close + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    guard fields.count > 19, let state = fields[0].first,
      let pid = Int32(String(decoding: text[..<open], as: UTF8.self).prefix { $0 != " " }),
      let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
      let session = Int32(String(decoding: fields[3], as: UTF8.self)),
      let threads = Int(String(decoding: fields[17], as: UTF8.self)),
      let startTick = UInt64(String(decoding: fields[19], as: UTF8.self))
    else { return nil }
    self.pid = pid
    self.parent = parent
    self.session = session
    self.command = String(decoding: text[(open + 1)..<close], as: UTF8.self)
    self.state = state
    self.threads = threads
    self.startTick = startTick
  }

  /// Whether the process is still running.
  ///
  /// The kernel shows a process as a zombie if its first thread has ended, even while others are running.
  var isAlive: Bool {
    let isZombie = state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
    return !isZombie || threads > 1
  }
}
