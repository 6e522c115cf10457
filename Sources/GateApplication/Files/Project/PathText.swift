import Glibc
import LinuxSystem

/// Paths as text; only ``exists(_:)``, ``resolved(_:)`` and the working directory access the file system.
enum PathText {
  /// The absolute path, without `.`, `..` and double slashes; `..` is resolved textually, without following links.
  static func absolute(_ path: String, from folder: String) -> String {
    var parts: [Substring] = []
    for part in (path.hasPrefix("/") ? path : "\(folder)/\(path)").split(separator: "/") {
      switch part {
      case ".": continue
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// The folder of an absolute path; nil for `/`.
  static func parent(of path: String) -> String? {
    guard path != "/", let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The last component of a path.
  static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Whether an absolute path is the folder or inside it.
  static func isInside(_ path: String, folder: String) -> Bool {
    folder == "/" || path == folder || path.hasPrefix(folder + "/")
  }

  /// An absolute path relative to a folder, with `..` if needed.
  static func relative(_ path: String, to folder: String) -> String {
    let (target, start) = (path.split(separator: "/"), folder.split(separator: "/"))
    let shared = zip(target, start).prefix { $0 == $1 }.count
    let parts = Array(repeating: "..", count: start.count - shared) + target.dropFirst(shared).map(String.init)
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }

  /// A file in messages: relative to the working directory if that is shorter, else as given.
  static func shown(_ path: String, from workingDirectory: String) -> String {
    let short = relative(absolute(path, from: workingDirectory), to: workingDirectory)
    return Shown.path(short.utf8.count <= path.utf8.count ? short : path)
  }

  static func exists(_ path: String) -> Bool {
    access(path.systemText, F_OK) == 0
  }

  /// The path with all links resolved; nil if there is no such file.
  static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path.systemText, nil) else { return nil }
    defer { free(resolved) }
    return String(systemText: resolved)
  }

  /// Whether a path is git's own folder, or in it: on some file systems in any case of letters.
  static func isInGitFolder(_ path: String) -> Bool {
    path.split(separator: "/").contains { $0.lowercased() == ".git" }
  }

  /// Whether a path, of which the last parts may not exist, leads out of a folder, or into git's own, by a symbolic link or
  /// by itself.
  static func leadsOut(_ path: String, of folder: String) -> Bool {
    guard let folder = resolved(folder) else { return true }
    var existing = path
    while resolved(existing) == nil, let parent = parent(of: existing) { existing = parent }
    let place = resolved(existing) ?? "/"
    return !isInside(place, folder: folder) || isInGitFolder(relative(place, to: folder))
  }

  /// The working directory; `/` if it has been removed.
  static var workingDirectory: String {
    resolved(".") ?? "/"
  }

  /// The folder with `.git`, searched from a folder upwards; a `.git` file counts, as in a worktree.
  static func repositoryRoot(above folder: String) -> String? {
    var current: String? = folder
    while let folder = current {
      if exists(absolute(".git", from: folder)) { return folder }
      current = parent(of: folder)
    }
    return nil
  }
}
