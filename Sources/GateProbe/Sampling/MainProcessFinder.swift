import GateCore
import RegularExpressions

/// Finds the main process of a scenario if it is not the one that the runner started.
struct MainProcessFinder {
  private let processTree: ProcessTree
  private let rule: Target.MainProcess
  /// Compiled once, by the thread that uses it.
  private let pattern: RegularExpression?

  init(processTree: ProcessTree, rule: Target.MainProcess) {
    self.processTree = processTree
    self.rule = rule
    switch rule {
    case .name(let pattern): self.pattern = pattern.compiled()
    case .pidfile: pattern = nil
    }
  }

  /// The main process; nil if there is none yet.
  ///
  /// A pidfile counts only if it names a member of the tree, so a stale one does no harm. If several names match, the
  /// lowest pid wins. The leader's own command line is ignored: `sh -c 'server --port 7001; …'` contains the server's
  /// name before the server exists. So is the same command line of another process: each child of that shell has it
  /// between its fork and its exec.
  func find() -> Int32? {
    switch rule {
    case .pidfile(let path):
      guard let text = SmallFile.text(at: path, atMost: 64), let pid = Self.number(in: text) else { return nil }
      return processTree.isMember(pid) ? pid : nil
    case .name:
      return processTree.members().sorted { $0.pid < $1.pid }.first(where: matches)?.pid
    }
  }

  /// Whether a program is the main one by its name: a traced one may have ended before a search could see it.
  func isMain(command: String) -> Bool {
    pattern != nil && isMatch(command)
  }

  static func number(in text: String) -> Int32? {
    Int32(text.drop { $0.isWhitespace }.prefix { $0.isASCII && $0.isNumber })
  }

  private func matches(_ member: ProcessTree.Member) -> Bool {
    if isMatch(member.command) { return true }
    guard member.pid != processTree.leader else { return false }
    guard let words = Self.words(of: member.pid), words != Self.words(of: processTree.leader) else { return false }
    let line = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    return isMatch(line)
  }

  /// Bounds the time that a command line may take, which the program chooses.
  private static let longestSearch = Duration.milliseconds(50)

  private func isMatch(_ text: String) -> Bool {
    let deadline = MonotonicTime.after(Self.longestSearch)
    let outcome = pattern?.firstMatch(in: Array(text.utf8)[...]) { deadline.hasPassed }
    if case .match? = outcome { return true }
    return false
  }

  /// The command line as the kernel shows it; nil if there is no such process.
  private static func words(of pid: Int32) -> [UInt8]? {
    SmallFile.bytes(at: "/proc/\(pid)/cmdline")
  }
}
