import FoundationEssentials
package import GateCore
import Glibc
import LinuxSystem

/// Properties of a checkout that only `git` itself knows.
///
/// A commit is passed on only if it is 7 to 64 hexadecimal digits; no hook is run, and nothing is fetched. All results
/// are nil if git does not know: in a shallow clone, without git, or if it takes longer than two seconds.
package enum GitQuery {
  /// The number of commits in `HEAD` that are not in the given commit.
  package static func commits(since commit: String, in root: String) -> Int? {
    guard isCommit(commit) else { return nil }
    return line(of: ["rev-list", "--count", "\(commit)..HEAD", "--"], in: root).flatMap { Int($0) }
  }

  /// The first line of a commit's message, cut to 300 bytes.
  package static func subject(of commit: String, in root: String) -> String? {
    info(of: commit, in: root)?.subject
  }

  /// What people know a commit by; the author's name is cut to 100 bytes, the subject to 300.
  package static func info(of commit: String, in root: String) -> CommitInfo? {
    guard isCommit(commit) else { return nil }
    let format = "--format=%at%n%P%n%<(100,trunc)%an%n%<(300,trunc)%s"
    let words = ["log", "-1", format, "--no-show-signature", commit, "--"]
    let lines = output(of: words, in: root, atMost: 16 << 10)?.split(separator: "\n", omittingEmptySubsequences: false)
    guard let lines, lines.count >= 4 else { return nil }
    func text(_ line: Substring) -> String? {
      let end = line.lastIndex { $0 != " " }
      return end.map { String(line[...$0]) }
    }
    return CommitInfo(
      commit: commit, subject: text(lines[3]), author: text(lines[2]),
      date: Double(lines[0]).map(Date.init(timeIntervalSince1970:)),
      parents: lines[1].split(separator: " ").map(String.init))
  }

  /// The commits after `good` up to `bad`, oldest first; of a merge only the first parent is followed.
  package static func commits(after good: String, upTo bad: String, in root: String) -> [String]? {
    guard isCommit(good), isCommit(bad) else { return nil }
    let words = ["rev-list", "--first-parent", "--reverse", "\(good)..\(bad)", "--"]
    return output(of: words, in: root, atMost: 64 << 20).map { $0.split(separator: "\n").map(String.init) }
  }

  /// The best common ancestor of two commits.
  package static func mergeBase(of one: String, _ other: String, in root: String) -> String? {
    guard isCommit(one), isCommit(other) else { return nil }
    return line(of: ["merge-base", one, other], in: root)
  }

  /// Whether tracked files differ from `HEAD`; untracked files do not count.
  package static func hasUncommittedChanges(in root: String) -> Bool? {
    // A configured file system monitor would be a program.
    let words = ["-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no"]
    return output(of: words, in: root, atMost: 16 << 20).map { !$0.isEmpty }
  }

  /// A hash of how the tracked files differ from a commit, which must be `HEAD`.
  package static func hashOfChanges(since commit: String, in root: String) -> String? {
    guard isCommit(commit), self.commit(named: "HEAD", in: root) == commit else { return nil }
    let words = ["-c", "core.fsmonitor=false", "diff", "--binary", "--no-ext-diff", "--no-textconv", commit, "--"]
    return output(of: words, in: root, atMost: 16 << 20).map { StableHash.hexadecimal(of: $0) }
  }

  /// Whether a folder is the root of a worktree of this repository.
  package static func hasWorktree(_ folder: String, in root: String) -> Bool {
    // Each worktree is a list of attributes, and an empty line ends it.
    let list = output(of: ["worktree", "list", "--porcelain"], in: root, atMost: 16 << 20) ?? ""
    let worktree = list.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "")
      .first { $0.first == "worktree \(folder)" }
    return worktree.map { lines in !lines.contains { $0.hasPrefix("prunable") } } ?? false
  }

  /// The files that a change edits, relative to the top of the checkout: what differs between its last commit and the
  /// one in which it left its target.
  ///
  /// `commit` is the last commit of the change, or nil for `HEAD`; where a CI system built a merge of it into the target,
  /// the first parent of `HEAD` is the target. `targets` are revisions of the target, the best known first.
  package static func files(editedBy commit: String?, since targets: [String], in root: String) -> [String]? {
    guard let ends = ends(ofChange: commit, since: targets, in: root) else { return nil }
    let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", ends.base, ends.last, "--"]
    return output(of: words, in: root, atMost: 16 << 20).map { $0.split(separator: "\0").map(String.init) }
  }

  private static func ends(
    ofChange commit: String?,
    since targets: [String],
    in root: String
  ) -> (base: String, last: String)? {
    let parents = line(of: ["rev-list", "--parents", "-n", "1", "HEAD", "--"], in: root)
    let merge = parents?.split(separator: " ").map(String.init) ?? []
    if merge.count == 3, merge[2] == commit { return (merge[1], merge[0]) }
    for last in [commit.flatMap { isCommit($0) ? $0 : nil }, "HEAD"].compactMap(\.self) {
      for target in targets {
        if let base = line(of: ["merge-base", "--", target, last], in: root) { return (base, last) }
      }
    }
    return nil
  }

  /// The name with which commits are made here (`user.name`), cut to 300 characters.
  package static func userName(in root: String) -> String? {
    line(of: ["config", "user.name"], in: root).map { String($0.prefix(300)) }
  }

  /// The name of the repository from which this checkout comes, without its host.
  ///
  /// For `git@git.example:team/shop.git` that is `team/shop`; for a repository on this machine, the last part of its path.
  package static func repositoryName(in root: String) -> String? {
    guard let origin = line(of: ["config", "remote.origin.url"], in: root) else { return nil }
    let address = origin.hasSuffix(".git") ? origin.dropLast(4) : origin[...]
    if let scheme = address.firstRange(of: "://"), !address.hasPrefix("file:") {
      let path = address[scheme.upperBound...].drop { $0 != "/" }.split(separator: "/")
      return path.isEmpty ? nil : path.joined(separator: "/")
    }
    // The form of scp(1); a path with a colon has a slash before it.
    let isRemote = address.firstIndex(of: ":").map { !address[..<$0].contains("/") } ?? false
    let path = (isRemote ? address.drop { $0 != ":" }.dropFirst() : address).split(separator: "/")
    return isRemote ? path.joined(separator: "/") : path.last.map(String.init)
  }

  /// The commit that a branch, tag or other revision names; a branch may be known only as that of `origin`.
  package static func commit(named revision: String, in root: String) -> String? {
    guard !revision.isEmpty, !revision.hasPrefix("-") else { return nil }
    return [revision, "origin/\(revision)"].lazy.compactMap { name in
      line(of: ["rev-parse", "--verify", "--quiet", "\(name)^{commit}"], in: root)
    }.first
  }

  /// The absolute path of the folder in which git stores the state of this checkout.
  package static func folder(of root: String) -> String? {
    line(of: ["rev-parse", "--absolute-git-dir"], in: root)
  }

  /// The first line of the output of a git command, if it has one.
  private static func line(of words: [String], in root: String) -> String? {
    let line = output(of: words, in: root, atMost: 4096)?.prefix { !$0.isNewline }
    return line.flatMap { $0.isEmpty ? nil : String($0) }
  }

  private static func isCommit(_ text: String) -> Bool {
    (7...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
  }

  /// Keeps git from asking for passwords and from fetching objects missing from a partial clone.
  private static let quiet = ["GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"]

  /// The output of a git command that exits with 0 within two seconds; nil if it has more than `most` bytes.
  private static func output(of words: [String], in root: String, atMost most: Int) -> String? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let started = start(["git", "-C", root] + words, output: ends[1])
    close(ends[1])
    guard let child = started else { return nil }
    var bytes: [UInt8] = []
    let isRead = read(ends[0], into: &bytes, atMost: most)
    if !isRead { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return isRead && status == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func start(_ words: [String], output: Int32) -> pid_t? {
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
    var variables: [UnsafeMutablePointer<CChar>?] = (inherited + quiet).map { strdup($0.systemText) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var child: pid_t = 0
    return posix_spawnp(&child, words[0], &actions, nil, &arguments, &variables) == 0 ? child : nil
  }

  /// Reads to the end of the pipe; false if this takes longer than two seconds.
  private static func read(_ descriptor: Int32, into bytes: inout [UInt8], atMost most: Int) -> Bool {
    let deadline = ContinuousClock.now + .seconds(2)
    while bytes.count <= most {
      let left = deadline - .now
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      guard milliseconds > 0, poll(&waiting, 1, Int32(milliseconds)) > 0 else { return false }
      var chunk = [UInt8](repeating: 0, count: 256)
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return count == 0 }
      bytes += chunk.prefix(count)
    }
    return false
  }
}
