import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// Properties of a checkout that only `git` itself knows.
///
/// A commit is passed on only if it is 7 to 64 hexadecimal digits; no hook is run, and nothing is fetched. All results
/// are nil if git does not know: in a shallow clone, without git, or if it takes longer than 20 seconds.
enum GitQuery {
  /// The number of commits in `HEAD` that are not in the given commit.
  static func commits(since commit: String, in root: String) -> Int? {
    guard CommitID.isHash(commit) else { return nil }
    return line(of: ["rev-list", "--count", "\(commit)..HEAD", "--"], in: root).flatMap { Int($0) }
  }

  /// The first line of a commit's message, cut to 300 bytes.
  static func subject(of commit: String, in root: String) -> String? {
    info(of: commit, in: root)?.subject
  }

  /// What people know a commit by; the author's name is cut to 100 bytes, the subject to 300.
  static func info(of commit: String, in root: String) -> CommitInfo? {
    guard CommitID.isHash(commit) else { return nil }
    let words = ["log", "-1", "--format=\(infoFormat)", "--no-show-signature", commit, "--"]
    return output(of: words, in: root, atMost: 16 << 10).flatMap { info(of: commit, $0[...]) }
  }

  static let infoFormat = "%at%n%P%n%<(100,trunc)%an%n%<(300,trunc)%s"

  /// Parses what git prints in ``infoFormat``.
  static func info(of commit: String, _ text: Substring) -> CommitInfo? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 4 else { return nil }
    func plain(_ line: Substring) -> String? {
      let end = line.lastIndex { $0 != " " }
      return end.map { String(line[...$0]) }
    }
    return CommitInfo(
      commit: commit, subject: plain(lines[3]), author: plain(lines[2]),
      date: Double(lines[0]).map(Date.init(timeIntervalSince1970:)),
      parents: lines[1].split(separator: " ").map(String.init))
  }

  /// The commits after `good` up to `bad`, oldest first; of a merge only the first parent is followed.
  static func commits(after good: String, upTo bad: String, in root: String) -> [String]? {
    guard CommitID.isHash(good), CommitID.isHash(bad) else { return nil }
    let words = ["rev-list", "--first-parent", "--reverse", "\(good)..\(bad)", "--"]
    return output(of: words, in: root, atMost: 64 << 20).map { $0.split(separator: "\n").map(String.init) }
  }

  /// The last commit that changed a file; nil in a shallow clone, where the oldest commit seems to add all files.
  static func commit(changing path: String, in root: String) -> String? {
    guard line(of: ["rev-parse", "--is-shallow-repository"], in: root) == "false" else { return nil }
    return line(of: ["--literal-pathspecs", "log", "-1", "--format=%H", "--no-show-signature", "--", path], in: root)
  }

  /// The last commit of `HEAD` in which files differ from the commit before; of a merge, from its first parent.
  ///
  /// A merge thus counts where it brings the files, and not the commits of the merged branch, whose other files are not
  /// those of the merged program.
  static func mainCommit(changing patterns: [String], in root: String) -> String? {
    guard line(of: ["rev-parse", "--is-shallow-repository"], in: root) == "false" else { return nil }
    return line(of: ["rev-list", "-1", "--first-parent", "HEAD", "--"] + patterns, in: root)
  }

  /// The best common ancestor of two commits.
  static func mergeBase(of one: String, _ other: String, in root: String) -> String? {
    guard CommitID.isHash(one), CommitID.isHash(other) else { return nil }
    return line(of: ["merge-base", one, other], in: root)
  }

  /// Whether tracked files differ from `HEAD`; untracked files do not count.
  static func hasUncommittedChanges(in root: String) -> Bool? {
    let words = ["status", "--porcelain", "--untracked-files=no"]
    return output(of: words, in: root, atMost: 16 << 20, variables: withoutFilters(in: root)).map { !$0.isEmpty }
  }

  /// A hash of how the tracked files differ from a commit, which must be `HEAD`.
  static func hashOfChanges(since commit: String, in root: String) -> String? {
    guard CommitID.isHash(commit), self.commit(named: "HEAD", in: root) == commit else { return nil }
    let words = ["diff", "--binary", "--no-ext-diff", "--no-textconv", commit, "--"]
    return output(of: words, in: root, atMost: 16 << 20, variables: withoutFilters(in: root))
      .map { StableHash.hexadecimal(of: $0) }
  }

  /// The files of a folder that git tracks, so that a commit may have written them; none outside of a repository.
  ///
  /// If a repository's list is too long, or takes too long, they are all taken for tracked.
  static func tracked(_ names: [String], in folder: String) -> Set<String> {
    guard !names.isEmpty else { return [] }
    // Who owns the repository does not matter for a list of names.
    let git = ["-c", "safe.directory=*"]
    let words = git + ["--literal-pathspecs", "ls-files", "-z", "--"] + names
    guard let list = bytes(of: words, in: folder, atMost: 1 << 20) else {
      return line(of: git + ["rev-parse", "--git-dir"], in: folder) == nil ? [] : Set(names)
    }
    return Set(names).intersection(list.split(separator: 0).map { String(systemBytes: Array($0)) })
  }

  /// Whether git tracks a file, so that a commit may have written it.
  static func isTracked(_ path: String) -> Bool {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return !tracked([name], in: SafeFile.folder(of: path)).isEmpty
  }

  /// The first of these paths that git ignores, with the rule, as in `.gitignore:1: logstat`; nil if it ignores none.
  static func ignored(of paths: [String], in root: String) -> (path: String, rule: String)? {
    // Each line is `SOURCE:LINE:PATTERN`, a tab and the path; a pattern with `!` says that the path is not ignored.
    let words = ["-c", "core.quotePath=false", "check-ignore", "--verbose", "--"] + paths.prefix(mostPaths)
    for line in output(of: words, in: root, atMost: 1 << 20)?.split(separator: "\n") ?? [] {
      let parts = line.split(separator: "\t", maxSplits: 1)
      let fields = parts[0].split(separator: ":", maxSplits: 2)
      if parts.count == 2, fields.count == 3, !fields[2].hasPrefix("!") {
        return (String(parts[1]), "\(fields[0]):\(fields[1]): \(fields[2])")
      }
    }
    return nil
  }

  /// More paths are not passed to git at once: a command line has limits.
  private static let mostPaths = 200

  /// The files of a checkout that are neither tracked nor ignored, relative to its root; nil if git does not know.
  ///
  /// Of a folder that is a repository itself, only the folder is listed.
  static func untrackedFiles(in root: String) -> [String]? {
    bytes(of: ["ls-files", "-z", "--others", "--exclude-standard"], in: root, atMost: 16 << 20)
      .map { $0.split(separator: 0).map { String(systemBytes: Array($0)) } }
  }

  /// When a text was first committed.
  enum FirstCommit: Equatable {
    /// It is not committed, or there is no repository.
    case missing
    case at(Date)
    /// The history begins too late, or git does not answer.
    case unknown
  }

  /// How often the files that name a scenario are followed to other names.
  private static let mostMoves = 20

  /// When one of these files, which may be patterns, first had a `name:` with this value, or another project file in
  /// which it was before.
  static func firstCommit(naming name: String, in files: [String], of root: String) -> FirstCommit {
    guard commit(named: "HEAD", in: root) != nil else { return .missing }
    let words = [
      "log", "--format=%ct %H %P", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--pickaxe-regex",
    ]
    let pattern = "name: *[\"']?\(escaped(name))([^A-Za-z0-9_.-]|$)"
    var (files, first) = (files, FirstCommit.missing)
    for _ in 1...mostMoves {
      let list = output(of: words + ["-S\(pattern)", "HEAD", "--"] + files, in: root, atMost: 1 << 20)
      guard let list else { return .unknown }
      let commits = list.split(separator: "\n").map { $0.split(separator: " ") }
      guard let oldest = commits.last, let seconds = Double(oldest[0]) else { return first }
      // The oldest commit of a shallow clone seems to add all files.
      let isCut = oldest.count == 2 && line(of: ["rev-parse", "--is-shallow-repository"], in: root) != "false"
      if isCut { return .unknown }
      first = .at(Date(timeIntervalSince1970: seconds))
      guard let parent = oldest.dropFirst(2).first else { return first }
      let before = projectFiles(matching: pattern, at: String(parent), in: root).filter { !files.contains($0) }
      if before.isEmpty { return first }
      files += before
    }
    return .unknown
  }

  /// The files of a commit that have scenarios and a line that matches, as patterns from the top of the checkout.
  private static func projectFiles(matching pattern: String, at commit: String, in root: String) -> [String] {
    let words = ["grep", "-z", "-l", "-I", "-E", "--full-name", "--all-match", "-e", pattern, "-e", "^ *scenarios:"]
    // It exits with 1 where there is none.
    let list = bytes(of: words + [commit, "--", ":(top)"], in: root, atMost: 1 << 20) ?? []
    return list.split(separator: 0).compactMap { name in
      String(systemBytes: Array(name)).split(separator: ":", maxSplits: 1).last.map { ":(top,literal)\($0)" }
    }
  }

  /// A text as a regular expression (POSIX, extended) that matches nothing else.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { $0 += #"\^$.|?*+()[]{}"#.contains($1) ? "\\\($1)" : "\($1)" }
  }

  /// Whether a folder is the root of a worktree of this repository.
  static func hasWorktree(_ folder: String, in root: String) -> Bool {
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
  ///
  /// - Returns: the files, and the commit in which the change left its target.
  static func files(
    editedBy commit: String?, since targets: [String], in root: String
  ) -> (names: [String], base: String)? {
    guard let ends = ends(ofChange: commit, since: targets, in: root) else { return nil }
    let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", ends.base, ends.last, "--"]
    return output(of: words, in: root, atMost: 16 << 20)
      .map { ($0.split(separator: "\0").map(String.init), ends.base) }
  }

  /// The files below a folder in a commit, all relative to the top of the checkout; empty if git does not know.
  static func files(below folder: String, at commit: String, in root: String) -> [String] {
    guard CommitID.isHash(commit) else { return [] }
    let words = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", "\(folder)/"]
    return output(of: words, in: root, atMost: 1 << 20)?.split(separator: "\0").map(String.init) ?? []
  }

  /// The content of a file in a commit, of at most 1 MiB.
  static func content(of file: String, at commit: String, in root: String) -> [UInt8]? {
    guard CommitID.isHash(commit) else { return nil }
    return output(of: ["cat-file", "blob", "\(commit):\(file)"], in: root, atMost: 1 << 20).map { Array($0.utf8) }
  }

  /// The tree of a commit; nil if git does not know.
  static func tree(of commit: String, in root: String) -> String? {
    guard CommitID.isHash(commit) else { return nil }
    return line(of: ["rev-parse", "--verify", "--quiet", "\(commit)^{tree}"], in: root)
  }

  /// The tree that a commit of all files of the checkout would have, including untracked ones that are not ignored.
  ///
  /// Nothing is written but in `folder`, and no filter runs. nil also if the files that git would have to read are too
  /// large to be read in each check.
  static func treeOfFiles(in root: String, usingFolder folder: String) -> String? {
    let filters = withoutFilters(in: root)
    guard areNewFilesSmall(in: root, filters),
      let index = line(of: ["rev-parse", "--path-format=absolute", "--git-path", "index"], in: root),
      let objects = line(of: ["rev-parse", "--path-format=absolute", "--git-path", "objects"], in: root)
    else { return nil }
    let copy = "\(folder)/index"
    if let bytes = try? SafeFile.read(index, atMost: 256 << 20) {
      try? SafeFile.write(bytes, to: copy)
      copyTime(of: index, to: copy)
    }
    let variables =
      [
        "GIT_INDEX_FILE=\(copy)", "GIT_OBJECT_DIRECTORY=\(folder)", "GIT_ALTERNATE_OBJECT_DIRECTORIES=\(objects)",
      ] + filters
    let add = ["add", "--all", "--", ":(top)"]
    guard output(of: add, in: root, atMost: 4096, variables: variables) != nil else { return nil }
    return line(of: ["write-tree"], in: root, variables: variables)
  }

  /// Untracked and changed files of more than this many bytes are not read: git takes 19 s for 1 GiB, and their size as
  /// memory (our measurement, November 2026).
  private static let mostNewBytes: Int64 = 64 << 20

  private static func areNewFilesSmall(in root: String, _ filters: [String]) -> Bool {
    let words = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", ":(top)"]
    guard let list = bytes(of: words, in: root, atMost: 16 << 20, variables: filters) else { return false }
    let sizes = list.split(separator: 0).map { name in
      var facts = stat()
      return lstat("\(root)/\(String(systemBytes: Array(name)))".systemText, &facts) == 0 ? Int64(facts.st_size) : 0
    }
    return sizes.reduce(0, +) <= mostNewBytes
  }

  /// Gives a copied index the time of the original: git reads a file again that is as new as the index, since its size
  /// and time may be those from before an edit (gitformat-index(5), racy entries).
  private static func copyTime(of index: String, to copy: String) {
    var facts = stat()
    guard stat(index, &facts) == 0 else { return }
    utimensat(AT_FDCWD, copy, [facts.st_atim, facts.st_mtim], 0)
  }

  /// The commit in which a change left its target, as in ``files(editedBy:since:in:)``.
  static func base(ofChange commit: String?, since targets: [String], in root: String) -> String? {
    ends(ofChange: commit, since: targets, in: root)?.base
  }

  private static func ends(
    ofChange commit: String?,
    since targets: [String],
    in root: String
  ) -> (base: String, last: String)? {
    let parents = line(of: ["rev-list", "--parents", "-n", "1", "HEAD", "--"], in: root)
    let merge = parents?.split(separator: " ").map(String.init) ?? []
    if merge.count == 3, merge[2] == commit { return (merge[1], merge[0]) }
    for last in [commit.flatMap { CommitID.isHash($0) ? $0 : nil }, "HEAD"].compactMap(\.self) {
      for target in targets {
        if let base = line(of: ["merge-base", "--", target, last], in: root) { return (base, last) }
      }
    }
    return nil
  }

  /// The name with which commits are made here (`user.name`), cut to 300 characters.
  static func userName(in root: String) -> String? {
    line(of: ["config", "user.name"], in: root).map { String($0.prefix(300)) }
  }

  /// The name of the repository from which this checkout comes, without its host.
  ///
  /// For `git@git.example:team/shop.git` that is `team/shop`; for a repository on this machine, the last part of its path.
  static func repositoryName(in root: String) -> String? {
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
  static func commit(named revision: String, in root: String) -> String? {
    guard !revision.isEmpty, !revision.hasPrefix("-") else { return nil }
    return [revision, "origin/\(revision)"].lazy.compactMap { name in
      line(of: ["rev-parse", "--verify", "--quiet", "\(name)^{commit}"], in: root)
    }.first
  }

  /// The absolute path of the folder in which git stores the state of this checkout.
  static func folder(of root: String) -> String? {
    line(of: ["rev-parse", "--absolute-git-dir"], in: root)
  }

  /// The first line of the output of a git command, if it has one.
  static func line(of words: [String], in root: String, variables: [String] = []) -> String? {
    let bytes = bytes(of: words, in: root, atMost: 4096, variables: variables)
    let line = bytes?.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return line.flatMap { $0.isEmpty ? nil : String(systemBytes: Array($0)) }
  }
}
