/// What else changed, if nothing on a call stack did.
package enum ElsewhereChanges {
  /// More files are only counted.
  package static let most = 5
  /// More dependencies of one file are left out.
  private static let mostDependencies = 100

  private static let texts: Set<Substring> = ["md", "rst", "adoc", "txt"]
  private static let tests: Set<Substring> = ["test", "tests", "spec", "doc", "docs", "__tests__"]

  /// The changed files that may matter, those that most likely do first: dependencies, then code, then other files, and
  /// documentation and tests last.
  ///
  /// Ignored are folders and files that do not belong to the program, such as the baselines.
  package static func ranked(_ paths: [String], ignoring ignored: [String]) -> [String] {
    let own = paths.filter { path in !ignored.contains { path == $0 || path.hasPrefix("\($0)/") } }
    return own.sorted { (rank($0), $0) < (rank($1), $1) }
  }

  private static func rank(_ path: String) -> Int {
    if DependencyVersions.are(in: path) { return 0 }
    let name = TrackedFiles.name(of: path)
    let isTest = path.split(separator: "/").dropLast().contains(where: tests.contains)
    if isTest || texts.contains(name.split(separator: ".").last ?? "") { return 3 }
    return SourceLanguage(path: path) == nil ? 2 : 1
  }

  /// What is known of a changed file with its text.
  package static func place(of file: ChangedFile) -> ChangedPlace {
    if DependencyVersions.are(in: file.path) {
      let changes = DependencyVersions.changes(in: file).prefix(mostDependencies)
      return ChangedPlace(file: file.path, dependencies: Array(changes))
    }
    guard let language = SourceLanguage(path: file.path), let part = mainPart(of: file) else {
      return ChangedPlace(file: file.path)
    }
    let line = max(1, part.now.isEmpty ? part.now.lowerBound - 1 : part.now.lowerBound)
    let function = FunctionExtent.all(in: file.now, language).last { $0.lines.contains(line) && !$0.name.isEmpty }
    return ChangedPlace(file: file.path, line: line, function: function?.name)
  }

  /// The part of a changed file that its place is of.
  package static func mainPart(of file: ChangedFile) -> ChangedFile.Part? { file.codeParts.first ?? file.parts.first }
}
