import GateCore
import LinuxSystem

/// The code that was measured, in a checkout whose branch and files may change meanwhile.
enum MeasuredCode: Sendable, Equatable {
  case commit(String)
  /// The files as they are, with what is not committed.
  case files

  /// Of the checkout as it is now; nil outside of one.
  init?(in root: String, isDirty: Bool) {
    guard let head = GitQuery.commit(named: "HEAD", in: root) else { return nil }
    self = isDirty ? .files : .commit(head)
  }

  /// nil for files.
  var commit: String? { if case .commit(let commit) = self { commit } else { nil } }
}

/// The measured code of a checkout beside that of one of its commits.
///
/// No hook, filter, diff driver or text conversion is run. What git does not answer in time is unknown.
struct GitComparison {
  /// The top of the checkout, as an absolute path.
  private let top: String
  /// The same, and as it is called by who follows other links to it.
  let tops: [String]
  let base: String
  private let measured: MeasuredCode
  private let variables: [String]
  /// All files that differ.
  let files: [File]

  /// A file that differs; paths are relative to the top.
  struct File: Sendable, Equatable {
    var path: String
    /// The path before a change of the name.
    var oldPath: String?
    /// The commits before and after of a submodule.
    var submodule: DependencyChange?
    var isDeleted = false

    /// Whether it says which versions of dependencies the program has.
    var isDependency: Bool { submodule != nil || DependencyVersions.are(in: path) }
  }

  /// nil if git does not know the commit, as in a shallow clone, or does not answer.
  init?(with commit: String, in root: String, of measured: MeasuredCode) {
    guard CommitID.isHash(commit), let top = GitQuery.line(of: ["rev-parse", "--show-toplevel"], in: root),
      let base = GitQuery.line(of: ["rev-parse", "--verify", "--quiet", "\(commit)^{commit}"], in: root)
    else { return nil }
    (self.top, self.base, self.measured) = (top, base, measured)
    let prefix = GitQuery.line(of: ["rev-parse", "--show-prefix"], in: root) ?? ""
    let other = "\(root)/".hasSuffix("/\(prefix)") ? "\(root)/".dropLast(prefix.count + 1) : root[...]
    tops = [top, String(other)]
    variables = measured == .files ? GitQuery.withoutFilters(in: root) : []
    let ends = [base, measured.commit].compactMap(\.self) + ["--"]
    // The search for other names takes long in a large change.
    let lists = [Self.diff, Self.diff + ["--no-renames"]].lazy.compactMap { [variables] words in
      let words = words + ["--raw", "-z", "--no-abbrev"] + ends
      return GitQuery.bytes(of: words, in: top, atMost: 16 << 20, variables: variables)
    }
    guard let list = lists.first else { return nil }
    files = Self.files(inRaw: list)
  }

  /// Programs are not run, and nothing depends on the configuration.
  private static let diff = [
    "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short", "--find-renames",
  ]

  /// The format of `git diff --raw -z`: `:MODE MODE ID ID STATUS`, and a path, or two for another name.
  private static func files(inRaw list: [UInt8]) -> [File] {
    var fields = list.split(separator: 0).makeIterator()
    var files: [File] = []
    while let field = fields.next(), let first = fields.next() {
      let facts = String(decoding: field, as: UTF8.self).split(separator: " ")
      guard facts.count == 5, let status = facts[4].first else { return files }
      let second = status == "R" || status == "C" ? fields.next() : nil
      let paths = [first, second].compactMap(\.self).map { String(systemBytes: Array($0)) }
      var file = File(path: paths[paths.count - 1], oldPath: paths.count > 1 ? paths[0] : nil)
      file.isDeleted = status == "D"
      if facts[0] == ":\(submoduleMode)" || facts[1] == submoduleMode {
        file.submodule = DependencyChange(name: file.path, before: short(facts[2]), now: short(facts[3]))
      }
      files.append(file)
    }
    return files
  }

  /// `S_IFGITLINK` (git's cache.h).
  private static let submoduleMode = "160000"

  /// nil for the ID of nothing.
  private static func short(_ id: Substring) -> String? {
    id.allSatisfy { $0 == "0" } ? nil : String(id.prefix(9))
  }

  // MARK: Files

  /// A path in the checkout, relative to its top; nil for another one.
  func relative(_ path: String) -> String? {
    tops.first { path.hasPrefix("\($0)/") }.map { String(path.dropFirst($0.count + 1)) }
  }

  /// The tracked files with these names, in any folder, and the untracked ones if uncommitted changes count.
  func tracked(named names: Set<String>) -> [String] {
    guard !names.isEmpty else { return [] }
    let untracked = measured == .files ? ["--others", "--exclude-standard"] : []
    return paths(named: names, of: ["--cached"] + untracked)
  }

  /// The files with these names that are neither tracked nor ignored; none if such changes do not count.
  func untracked(named names: Set<String>) -> [String] {
    measured == .files && !names.isEmpty ? paths(named: names, of: ["--others", "--exclude-standard"]) : []
  }

  private func paths(named names: Set<String>, of options: [String]) -> [String] {
    let patterns = names.sorted().map { name in
      ":(top,glob)**/" + name.map { "*?[\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
    let list = GitQuery.bytes(of: ["ls-files", "-z"] + options + ["--"] + patterns, in: top, atMost: 16 << 20)
    return (list ?? []).split(separator: 0).map { String(systemBytes: Array($0)) }
  }

  // MARK: Texts

  /// Larger files are not read, in bytes.
  private static let largest = 2 << 20

  /// The texts of a file; nil for one that is not text, or too large.
  func text(of file: File) -> ChangedFile? {
    text(of: [file.path, file.oldPath].compactMap(\.self), as: file.path, since: base)
  }

  /// The text of a file as it was measured, all of it new; nil for one that is not text, or too large.
  func text(asItIs path: String) -> ChangedFile? {
    guard let bytes = bytes(of: path), !bytes.contains(0) else { return nil }
    return ChangedFile(path: path, lines: PatchText.lines(of: bytes).map { .added($0) })
  }

  /// The paths of tracked files with one of these words; at most so many.
  func paths(with words: [String], atMost most: Int) -> [String] {
    guard !words.isEmpty else { return [] }
    let list =
      ["grep", "-z", "-l", "-I", "-w", "-F"] + words.prefix(Self.mostWords).flatMap { ["-e", $0] }
      + [measured.commit].compactMap(\.self) + ["--"]
    // It exits with 1 where there is none.
    let found = GitQuery.bytes(of: list, in: top, atMost: 1 << 20) ?? []
    return found.split(separator: 0).prefix(most).map { name in
      let name = String(systemBytes: Array(name))
      return measured.commit == nil ? name : String(name.drop { $0 != ":" }.dropFirst())
    }
  }

  private static let mostWords = 16

  private func bytes(of path: String) -> [UInt8]? {
    if let commit = measured.commit {
      return GitQuery.bytes(of: ["cat-file", "blob", "\(commit):\(path)"], in: top, atMost: Self.largest)
    }
    let place = "\(top)/\(path)"
    guard case .regular? = try? Descriptor.kind(of: place, followingLinks: false) else { return nil }
    return try? SafeFile.read(place, atMost: Self.largest)
  }

  private func text(of paths: [String], as path: String, since commit: String) -> ChangedFile? {
    let ends = [commit, measured.commit].compactMap(\.self) + ["--"]
    let list =
      Self.diff + ["--ignore-cr-at-eol", "--unified=\(Self.largest)"] + ends + paths.map { ":(top,literal)\($0)" }
    let patch = GitQuery.bytes(of: list, in: top, atMost: 2 * Self.largest, variables: variables)
    return patch.flatMap(PatchText.lines(ofPatch:)).map { ChangedFile(path: path, lines: $0) }
  }

  // MARK: Commits

  /// More commits are not listed.
  private static let mostCommits = 5

  private var range: String { "\(base)..\(measured.commit ?? "HEAD")" }

  /// Who changed these lines: the commits, the latest first, and whether there are changes that are not committed.
  func authors(of part: ChangedFile.Part, in file: ChangedFile) -> (commits: [CommitInfo], isUncommitted: Bool) {
    let local = measured == .files ? text(of: [file.path], as: file.path, since: "HEAD") : nil
    let isLocal = local?.parts.contains { $0.now.overlaps(part.now) || $0.now == part.now } ?? false
    guard !isLocal else { return ([], true) }
    let language = SourceLanguage(path: file.path)
    func hasCode(_ line: String) -> Bool { !SourceLanguage.isComment(line, in: language) }
    if !file.added(part).contains(where: hasCode),
      // Shorter ones often stand elsewhere as well.
      let removed = file.removed(part).filter(hasCode).max(by: { $0.utf8.count < $1.utf8.count }),
      let found = commits(["--follow", "-S\(removed)", range, "--", file.path]), !found.isEmpty
    {
      return (found, false)
    }
    // Lines that were only removed are between two others.
    let first = part.now.isEmpty ? max(1, part.now.lowerBound - 1) : part.now.lowerBound
    let last = max(first, part.now.isEmpty ? part.now.lowerBound : part.now.upperBound - 1)
    let lines = [first, last].map { local?.lineBefore($0) ?? $0 }
    return (commits(["-L\(lines[0]),\(lines[1]):\(file.path)", range, "--"]) ?? [], false)
  }

  /// The commits that changed a file, the latest first; empty if the change is not committed.
  func commits(changing file: File) -> [CommitInfo] { commits([range, "--", file.path]) ?? [] }

  /// The commits that `git log` lists; nil if it does not in time, or if it refuses the lines.
  private func commits(_ selection: [String]) -> [CommitInfo]? {
    let words = [
      "--literal-pathspecs", "log", "-z", "--no-patch", "--no-ext-diff", "--no-textconv", "--no-show-signature",
      "--no-color", "--max-count=\(Self.mostCommits)", "--format=%H%n\(GitQuery.infoFormat)",
    ]
    guard let list = GitQuery.bytes(of: words + selection, in: top, atMost: 1 << 16) else { return nil }
    let commits = list.split(separator: 0).compactMap { entry -> CommitInfo? in
      let text = String(decoding: entry, as: UTF8.self).drop(while: \.isNewline)
      let end = text.firstIndex(where: \.isNewline) ?? text.endIndex
      return GitQuery.info(of: String(text[..<end]), text[end...].dropFirst())
    }
    let own = commits.filter { $0.parents.count < 2 }
    return (own.isEmpty ? commits : own).map { CommitInfo(commit: $0.commit, subject: $0.subject, author: $0.author) }
  }
}
