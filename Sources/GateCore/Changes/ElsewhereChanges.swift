/// What else changed, if nothing on a call stack did.
package enum ElsewhereChanges {
  /// More files are only counted.
  package static let most = 5
  /// More dependencies of one file are left out.
  private static let mostDependencies = 100

  private static let texts: Set<Substring> = ["md", "rst", "adoc"]
  /// With any ending, or none.
  private static let documents: Set<String> = [
    "authors", "changelog", "changes", "contributors", "copying", "licence", "license", "news", "notice", "readme",
    "todo",
  ]
  private static let tests: Set<Substring> = ["test", "tests", "spec", "doc", "docs", "__tests__"]

  /// The changed files that may matter, those that most likely do first: dependencies, then code, then data, then tests and hidden
  /// files; documentation only if nothing else changed.
  ///
  /// Ignored are folders and files that do not belong to the program, such as the baselines.
  package static func ranked(_ paths: [String], ignoring ignored: [String]) -> [String] {
    let own = paths.filter { path in !ignored.contains { path == $0 || path.hasPrefix("\($0)/") } }
    let others = own.filter { Rank($0) != .documentation }
    return (others.isEmpty ? own : others).sorted { (Rank($0).rawValue, $0) < (Rank($1).rawValue, $1) }
  }

  /// Whether a file may be code or data of the program.
  package static func isOfProgram(_ path: String) -> Bool { Rank(path).rawValue < Rank.other.rawValue }

  private enum Rank: Int {
    case dependencies, code, data, other, documentation

    init(_ path: String) {
      let parts = path.split(separator: "/")
      let name = parts.last?.split(separator: ".") ?? []
      let isText = documents.contains(name.first?.lowercased() ?? "") || texts.contains(name.last ?? "")
      let isOther = parts.dropLast().contains(where: tests.contains) || parts.contains { $0.hasPrefix(".") }
      if DependencyVersions.are(in: path) {
        self = .dependencies
      } else if isText {
        self = .documentation
      } else if isOther {
        self = .other
      } else {
        self = SourceLanguage(path: path) == nil ? .data : .code
      }
    }
  }

  /// What is known of a changed file with its text, and the part that its line is of; nil if only comments and spaces of a
  /// source file changed.
  package static func place(of file: ChangedFile) -> (place: ChangedPlace, part: ChangedFile.Part?)? {
    if DependencyVersions.are(in: file.path) {
      let changes = DependencyVersions.changes(in: file).prefix(mostDependencies)
      return (ChangedPlace(file: file.path, dependencies: Array(changes)), nil)
    }
    guard SourceLanguage(path: file.path) != nil else { return (ChangedPlace(file: file.path), nil) }
    let functions = functions(of: file)
    guard let part = mainPart(of: file, in: functions) else { return nil }
    let line = line(of: part, in: functions)
    return (ChangedPlace(file: file.path, line: line, function: function(at: line, in: functions)?.name), part)
  }

  /// A part in a function before others, which are often imports.
  private static func mainPart(of file: ChangedFile, in functions: [FunctionExtent]) -> ChangedFile.Part? {
    let parts = file.codeParts
    return parts.first { function(at: line(of: $0, in: functions), in: functions) != nil } ?? parts.first
  }

  /// The first line of a part that is in a function, else the first, or the one before it if lines were only removed.
  private static func line(of part: ChangedFile.Part, in functions: [FunctionExtent]) -> Int {
    let first = max(1, part.now.isEmpty ? part.now.lowerBound - 1 : part.now.lowerBound)
    return part.now.first { function(at: $0, in: functions) != nil } ?? first
  }

  private static func functions(of file: ChangedFile) -> [FunctionExtent] {
    SourceLanguage(path: file.path).map { FunctionExtent.all(in: file.now, $0) } ?? []
  }

  private static func function(at line: Int, in functions: [FunctionExtent]) -> FunctionExtent? {
    functions.last { $0.lines.contains(line) && !$0.name.isEmpty }
  }
}
