import GateCore
import Glibc
import LinuxSystem

/// A branch of the repository may contain the folder, with symbolic links at any name: what they lead to must not be
/// written, renamed or removed.
extension ArtifactsFolder {
  /// The levels of folders with names of our own: those of a study, and of each of its parts.
  private static let levels = 2

  /// Folders whose files are never followed where they are used.
  private static let checkedElsewhere: Set = ["outbox", "pending-runs"]

  /// Rejects a folder whose path is below the root, and which a symbolic link leads out of it.
  func refuseOtherPlace(in root: String) throws(FileError) {
    let place = Self.realPath(of: path)
    // Who writes `..` knows that it may lead out.
    if Self.isInside(path, root), !path.contains("/../"), let place, let realRoot = Self.realPath(of: root),
      !Self.isInside(place, realRoot)
    {
      throw FileError(
        code: .notAFile, path: path, problem: "leads out of the repository by a symbolic link",
        hint: "remove the link, or name the folder that it leads to with `--artifacts`")
    }
  }

  /// Rejects a symbolic link in the folder.
  func refuseLinks() throws(FileError) {
    guard let folder = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY) else { return }
    try Self.refuseLinks(in: folder, path, levels: Self.levels)
  }

  private static func refuseLinks(in folder: Descriptor, _ path: String, levels: Int) throws(FileError) {
    for entry in (try? folder.entries()) ?? [] {
      let entryPath = "\(path)/\(entry.name)"
      if entry.isFolder {
        guard levels > 1, Kind(rawValue: entry.name) == nil, !checkedElsewhere.contains(entry.name),
          let inner = try? folder.open(entry.name, O_RDONLY | O_DIRECTORY)
        else { continue }
        try refuseLinks(in: inner, entryPath, levels: levels - 1)
      } else if (try? folder.kind(of: entry.name)) == .link {
        throw FileError(
          code: .notAFile, path: entryPath,
          problem: "is a symbolic link, and none is followed out of the artifacts folder",
          hint: "remove it")
      }
    }
  }

  /// Where a path leads, or the nearest of its parents that exists.
  private static func realPath(of path: String) -> String? {
    if let real = realpath(path.systemText, nil) {
      defer { free(real) }
      return String(systemText: real)
    }
    let parent = SafeFile.folder(of: path)
    return parent == path ? nil : realPath(of: parent)
  }

  private static func isInside(_ path: String, _ root: String) -> Bool {
    path == root || path.hasPrefix(root == "/" ? root : root + "/")
  }
}
