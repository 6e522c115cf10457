import LinuxSystem

/// The state of a git checkout, read from its files: no program is started, and hooks and configuration have no effect.
struct GitCheckout: Equatable {
  /// 40 or 64 hexadecimal digits; nil before the first commit.
  let commit: String?
  /// nil for a detached HEAD.
  let branch: String?

  /// Searches `.git` in a folder and its parents (gitrepository-layout(5)); nil outside a checkout.
  init?(containing folder: String) {
    guard let git = Self.gitFolder(above: folder), let head = Self.firstLine(of: "\(git)/HEAD") else { return nil }
    guard head.hasPrefix("ref: ") else {
      commit = Self.asCommit(head)
      branch = nil
      return
    }
    let reference = String(head.dropFirst(5))
    branch = reference.hasPrefix("refs/heads/") ? String(reference.dropFirst(11)) : nil
    commit = Self.resolve(reference, in: git)
  }

  private static func gitFolder(above folder: String) -> String? {
    var current = folder
    while true {
      let candidate = current == "/" ? "/.git" : "\(current)/.git"
      if let kind = (try? Descriptor.kind(of: candidate, followingLinks: true)) ?? nil {
        return kind == .folder ? candidate : linkedFolder(candidate, from: current)
      }
      guard let slash = current.lastIndex(of: "/"), current != "/" else { return nil }
      current = slash == current.startIndex ? "/" : String(current[..<slash])
    }
  }

  /// The folder that the `.git` file of a linked worktree or submodule names.
  private static func linkedFolder(_ file: String, from folder: String) -> String? {
    guard let line = firstLine(of: file), line.hasPrefix("gitdir: ") else { return nil }
    let path = String(line.dropFirst(8))
    return path.hasPrefix("/") ? path : "\(folder)/\(path)"
  }

  private static func resolve(_ reference: String, in git: String) -> String? {
    guard !reference.split(separator: "/").contains("..") else { return nil }
    let common = firstLine(of: "\(git)/commondir").map { $0.hasPrefix("/") ? $0 : "\(git)/\($0)" } ?? git
    if let loose = firstLine(of: "\(common)/\(reference)") { return asCommit(loose) }
    let packed = text(of: "\(common)/packed-refs") ?? ""
    let line = packed.split(separator: "\n").first { $0.hasSuffix(" \(reference)") }
    return line.flatMap { asCommit(String($0.prefix { $0 != " " })) }
  }

  private static func asCommit(_ text: String) -> String? {
    [40, 64].contains(text.utf8.count) && text.allSatisfy(\.isHexDigit) ? text : nil
  }

  private static func firstLine(of path: String) -> String? {
    text(of: path)?.split(separator: "\n").first.map(String.init)
  }

  /// A checkout's own files are small; a packed-refs of more than 16 MiB is ignored.
  private static func text(of path: String) -> String? {
    guard let bytes = try? SafeFile.read(path, atMost: 16 << 20) else { return nil }
    return String(systemBytes: bytes)
  }
}
