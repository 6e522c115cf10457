import GateCore
import Glibc
import LinuxSystem

/// Finds the files that `include` names.
struct IncludeGlob {
  /// The maximum number of included files.
  static let mostFiles = 100

  let context: ReadingContext

  /// A pattern as an absolute path inside the root, and as it is written.
  typealias Pattern = (path: String, place: SourcePlace, source: String)

  static let form = ValueForm<[Pattern]>.list(
    .init(.text) { value, _, context in
      IncludeGlob(context: context).pattern(value).map { ($0, value.place, value.scalar ?? "") }
    })

  /// The files of all patterns, each once: in the order of the patterns, and sorted by name for one pattern.
  ///
  /// The project file itself, an absolute path, is left out even if a pattern matches it.
  func files(_ patterns: [Pattern], besides projectFile: String) -> [String] {
    var files: [String] = []
    for pattern in patterns {
      let matches = Self.matches(of: pattern.path, root: context.root)
      if matches.isEmpty {
        context.printError("no file matches `\(Shown.text(pattern.source))`", at: pattern.place)
      }
      for match in matches where match != projectFile && !files.contains(match) {
        guard isInside(match) else {
          context.printError(
            "`\(Shown.text(pattern.source))` is outside the project's folder",
            at: pattern.place,
            hint: "included files must be in the folder that contains `.git`"
          )
          break
        }
        guard files.count < Self.mostFiles else {
          context.printError("more than \(Self.mostFiles) files are included", at: pattern.place)
          return files
        }
        files.append(match)
      }
    }
    return files
  }

  /// The pattern as an absolute path inside the root.
  private func pattern(_ value: YAMLValue) -> String? {
    guard let pattern = context.fixedPath(value, as: "include", example: "include: [scenarios/*.yml]") else {
      return nil
    }
    guard PathText.isInside(pattern, folder: context.root), pattern != context.root else {
      context.printError(
        "`\(Shown.text(value.scalar ?? ""))` is outside the project's folder",
        at: value.place,
        hint: "included files must be in the folder that contains `.git`"
      )
      return nil
    }
    return pattern
  }

  /// Whether a file is inside the root after its links are resolved.
  private func isInside(_ file: String) -> Bool {
    guard let file = PathText.resolved(file), let root = PathText.resolved(context.root) else { return false }
    return PathText.isInside(file, folder: root)
  }

  /// The files that match, as in glob(7); characters of the root's own path are literal.
  static func matches(of pattern: String, root: String) -> [String] {
    let special: Set<Character> = ["*", "?", "[", "]", "\\"]
    let escaped = root.map { special.contains($0) ? "\\\($0)" : String($0) }.joined()
    var found = glob_t()
    defer { globfree(&found) }
    guard glob((escaped + pattern.dropFirst(root == "/" ? 0 : root.count)).systemText, GLOB_NOSORT, nil, &found) == 0
    else {
      return []
    }
    let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(systemText: $0) } }
    return paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
