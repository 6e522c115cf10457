/// The files of a checkout, to which the paths in call stacks are matched.
package struct TrackedFiles: Sendable {
  private let tops: [String]
  /// Where relative paths may begin, as absolute paths.
  private let folders: [String]
  private let paths: Set<String>
  /// By their last part.
  private let byName: [Substring: [String]]

  /// Where installed code is: a file of the checkout that only ends alike is another one.
  private static let installed: Set<Substring> = ["site-packages", "dist-packages", "node_modules", "registry"]
  private static let systemFolders = ["/usr/", "/lib/", "/opt/", "/rustc/", "/nix/", "/snap/"]

  /// - Parameters:
  ///   - paths: Relative to the top; those of other names than the searched ones may be missing.
  ///   - tops: The top of the checkout by all its names, as absolute paths without a slash at their ends.
  ///   - folders: Working directories of the target and the like.
  package init(_ paths: some Sequence<String>, tops: [String], folders: [String] = []) {
    (self.tops, self.folders, self.paths) = (tops, folders, Set(paths))
    byName = Dictionary(grouping: self.paths) { Self.name(of: $0) }
  }

  /// The last part of a path.
  package static func name(of path: String) -> Substring {
    path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
  }

  /// The tracked file that a path of a call stack means; nil if there is none, or more than one.
  ///
  /// A path in the checkout means exactly that file. Another one, as of a build in a container, means the file with the
  /// longest equal end, if the whole path of either is equal or at least two parts are.
  package func file(_ path: String) -> String? {
    let places = path.hasPrefix("/") ? [path] : folders.map { "\($0)/\(path)" }
    for place in places.compactMap(Self.normal) {
      guard let top = tops.first(where: { place.hasPrefix("\($0)/") }) else { continue }
      let relative = String(place.dropFirst(top.count + 1))
      if paths.contains(relative) { return relative }
      if path.hasPrefix("/") { return nil }
    }
    guard let path = Self.normal(path), !isInstalled(path) else { return nil }
    return longestMatch(path.split(separator: "/"))
  }

  private func isInstalled(_ path: String) -> Bool {
    Self.systemFolders.contains(where: path.hasPrefix)
      || path.split(separator: "/").contains(where: Self.installed.contains)
  }

  private func longestMatch(_ parts: [Substring]) -> String? {
    guard let name = parts.last else { return nil }
    let matches = (byName[name] ?? []).map { path in
      let own = path.split(separator: "/")
      let count = zip(own.reversed(), parts.reversed()).prefix { $0 == $1 }.count
      return (path: path, count: count, isWhole: count == min(own.count, parts.count))
    }
    guard let most = matches.map(\.count).max() else { return nil }
    let longest = matches.filter { $0.count == most }
    guard longest.count == 1, most >= 2 || longest[0].isWhole else { return nil }
    return longest[0].path
  }

  /// Without `.` and `..`; nil if it leads out of where it begins.
  private static func normal(_ path: String) -> String? {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part != ".." {
        parts.append(part)
      } else if parts.popLast() == nil {
        // A relative path of a build in a folder beside the sources.
        if path.hasPrefix("/") { return nil }
      }
    }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }
}
