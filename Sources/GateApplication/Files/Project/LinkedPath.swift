import Glibc
import LinuxSystem

/// The ways in which files of a repository lead to one file, through symbolic links.
struct LinkedPath {
  /// The path, and what it becomes with each link resolved; relative to the repository's root.
  private(set) var spellings: [String]
  /// The links on the way: whoever changes one changes what the path leads to.
  private(set) var links: [String] = []

  /// As many as the kernel follows (path_resolution(7)).
  private static let mostLinks = 40

  /// Follows a path relative to `root`, an absolute path; what is outside of `root` is not part of the repository.
  init(_ path: String, in root: String) {
    spellings = [path]
    while links.count < Self.mostLinks, let current = spellings.last, let (link, target) = Self.firstLink(current, root)
    {
      links.append(link)
      guard PathText.isInside(target, folder: root) else { return }
      spellings.append(PathText.relative(target, to: root))
    }
  }

  /// The first part of the path that is a link, and the absolute path that results from following it.
  private static func firstLink(_ path: String, _ root: String) -> (link: String, target: String)? {
    let parts = path.split(separator: "/")
    for count in 1...max(1, parts.count) {
      let prefix = parts.prefix(count).joined(separator: "/")
      guard let target = textOfLink("\(root)/\(prefix)") else { continue }
      let folder = PathText.parent(of: "\(root)/\(prefix)") ?? "/"
      let rest = ([target] + parts.dropFirst(count).map(String.init)).joined(separator: "/")
      return (prefix, PathText.absolute(rest, from: folder))
    }
    return nil
  }
}
