import Glibc
import LinuxSystem

extension GitQuery {
  /// How long a command may take: it ends a hang, and is more than git needs to read all files on a machine under load.
  private static let mostTime = Duration.seconds(20)

  /// How long one poll(2) of the output may take, in milliseconds, before the command is asked for its end.
  private static let pollTime: Int32 = 50

  /// How long the kernel may take to end a killed command.
  private static let killTime = Duration.seconds(1)

  /// Keeps git from asking for passwords and from fetching objects missing from a partial clone.
  private static let quiet = ["GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"]

  /// Configuration that would start programs; of those that a command line can switch off, such as diff drivers, each
  /// command does it.
  private static let options = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]

  /// The variables that turn off the configured filters of `.gitattributes`, which git would start to read a changed file.
  static func withoutFilters(in root: String) -> [String] {
    let words = ["config", "-z", "--name-only", "--get-regexp", #"^filter\..*\.(clean|smudge|process|required)$"#]
    let names = bytes(of: words, in: root, atMost: 1 << 20)?.split(separator: 0).map { String(systemBytes: Array($0)) }
    let settings = Set(names ?? []).sorted().enumerated().flatMap { index, name in
      ["GIT_CONFIG_KEY_\(index)=\(name)", "GIT_CONFIG_VALUE_\(index)=\(name.hasSuffix(".required") ? "false" : "")"]
    }
    return settings.isEmpty ? [] : settings + ["GIT_CONFIG_COUNT=\(settings.count / 2)"]
  }

  /// The output of a git command that exits with 0 in time; nil if it has more than `most` bytes.
  static func output(
    of words: [String], in root: String, atMost most: Int, variables: [String] = []
  ) -> String? {
    bytes(of: words, in: root, atMost: most, variables: variables).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The same as bytes, since paths need not be UTF-8.
  static func bytes(
    of words: [String], in root: String, atMost most: Int, variables: [String] = []
  ) -> [UInt8]? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let started = start(["git", "-C", root] + options + words, output: ends[1], variables)
    close(ends[1])
    guard let child = started else { return nil }
    var bytes: [UInt8] = []
    let deadline = ContinuousClock.now + mostTime
    let isRead = read(ends[0], of: child, into: &bytes, atMost: most, until: deadline)
    if !isRead { kill(child, SIGKILL) }
    return status(of: child, until: deadline) == 0 && isRead ? bytes : nil
  }

  /// Waits for a command that has closed its output, and kills it if it does not end in time; nil if it lives even then.
  private static func status(of child: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
    var status: Int32 = 0
    for limit in [deadline, deadline + killTime] {
      while ContinuousClock.now < limit {
        guard waitpid(child, &status, WNOHANG) == 0 else { return status }
        usleep(200)
      }
      kill(child, SIGKILL)
    }
    return nil
  }

  private static func start(_ words: [String], output: Int32, _ variables: [String]) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let inherited = ["PATH", "HOME"].compactMap { (name: String) -> String? in
      getenv(name).map { "\(name)=\(String(systemText: $0))" }
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0.systemText) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] =
      (inherited + quiet + variables).map { strdup($0.systemText) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var child: pid_t = 0
    return posix_spawnp(&child, words[0], &actions, nil, &arguments, &environment) == 0 ? child : nil
  }

  /// Reads to the end of the pipe; false if this takes too long.
  ///
  /// The end is also that the command has ended and has left nothing to read: an own copy of the writing end that close(2)
  /// kept keeps the pipe open.
  private static func read(
    _ descriptor: Int32, of child: pid_t, into bytes: inout [UInt8], atMost most: Int,
    until deadline: ContinuousClock.Instant
  ) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= most, ContinuousClock.now < deadline {
      let hasEnded = hasEnded(child)
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, hasEnded ? 0 : pollTime)
      guard ready > 0 else {
        guard ready == 0 || errno == EINTR else { return false }
        if hasEnded { return true }
        continue
      }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return count == 0 }
      bytes += chunk.prefix(count)
    }
    return false
  }

  /// Whether a command has ended; it stays to be waited for.
  private static func hasEnded(_ child: pid_t) -> Bool {
    var information = siginfo_t()
    return waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_signo == SIGCHLD
  }
}
