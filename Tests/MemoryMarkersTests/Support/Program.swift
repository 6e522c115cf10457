import Glibc

/// A fixture program in a process of its own.
final class Program {
  private let pid: pid_t
  private let output: CInt
  private let input: CInt
  private var pending: [UInt8] = []
  private var hasEnded = false

  /// How a process ended.
  enum End: Equatable {
    case exited(Int32), signaled(Int32)
  }

  struct Failure: Error {
    let call: String
    let code: CInt
  }

  var processID: pid_t { pid }

  /// Starts a program in the folder of the tests, or at a path with a slash.
  ///
  /// The variables are added to `PATH` and `SWIFT_BACKTRACE`, which disables the backtrace: it takes seconds.
  init(_ name: String, _ arguments: [String] = [], variables: [String: String] = [:]) throws {
    let path = name.contains("/") ? name : Self.path(of: name)
    let (stdin, stdout) = try (Self.pipe(), Self.pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The threads that run tests block all signals, and `nohup` or a shell's `&` ignores some: a child would inherit
    // both.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    posix_spawn_file_actions_adddup2(&actions, stdin.reading, 0)
    posix_spawn_file_actions_adddup2(&actions, stdout.writing, 1)
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { word in strdup(word) } + [nil]
    let settings = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(variables) { $1 }
    var environment: [UnsafeMutablePointer<CChar>?] = settings.map { name, value in strdup("\(name)=\(value)") } + [nil]
    defer { (words + environment).forEach { free($0) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, path, &actions, &attributes, &words, &environment)
    close(stdin.reading)
    close(stdout.writing)
    (pid, input, output) = (child, stdin.writing, stdout.reading)
    guard code == 0 else { throw Failure(call: "posix_spawn \(path)", code: code) }
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    close(input)
    close(output)
  }

  /// The next line of its output; nil at the end.
  func line() -> String? {
    while true {
      if let end = pending.firstIndex(of: 0x0a) {
        defer { pending.removeFirst(end + 1) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &bytes, bytes.count)
      guard count > 0 else { return nil }
      pending += bytes[..<count]
    }
  }

  /// The lines before this one, or all lines if it does not occur.
  func lines(upTo last: String? = nil) -> [String] {
    var lines: [String] = []
    while let line = line(), line != last { lines.append(line) }
    return lines
  }

  /// Sends an empty line to its standard input.
  func sendLine() {
    _ = write(input, "\n", 1)
  }

  func send(_ signal: CInt) {
    kill(pid, signal)
  }

  /// Waits until it ends.
  @discardableResult
  func end() -> End {
    var status: CInt = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    hasEnded = true
    return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signaled(status & 0x7f)
  }

  /// A pair of descriptors that other processes do not inherit; sockets, because Swift does not import pipe2(2).
  private static func pipe() throws -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [0, 0]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(call: "socketpair", code: errno) }
    return (ends[0], ends[1])
  }

  /// The path of a fixture.
  static func path(of name: String) -> String { "\(folder)/\(name)" }

  /// The folder of the test program.
  private static let folder: String = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
    let path = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return "/" + path.split(separator: "/").dropLast().joined(separator: "/")
  }()
}
