/// What else changed, if nothing on a call stack did.
package enum ElsewhereChanges {
  /// More places are not listed.
  package static let most = 6
  /// More functions of one file are left out.
  private static let mostFunctions = 3
  /// More dependencies of one file are left out.
  private static let mostDependencies = 100

  private static let texts: Set<Substring> = ["md", "rst", "adoc"]
  /// With any ending, or none.
  private static let documents: Set<String> = [
    "authors", "changelog", "changes", "contributors", "copying", "licence", "license", "news", "notice", "readme",
    "todo",
  ]
  private static let tests: Set<Substring> = ["test", "tests", "spec", "doc", "docs", "__tests__"]

  /// The changed files that may matter, those that most likely do first: dependencies, then code, then data, then tests; hidden
  /// files, such as those of CI systems, and documentation only if nothing else changed.
  ///
  /// Ignored are folders and files that do not belong to the program, such as the baselines. Data come before code where no
  /// code that changed was found to have to do with what is named.
  package static func ranked(
    _ paths: [String], ignoring ignored: [String], dataFirst: Bool = false
  ) -> [String] {
    let own = paths.filter { path in
      !isOfGit(path) && !ignored.contains { path == $0 || path.hasPrefix("\($0)/") }
    }
    let visible = own.filter { Rank($0).rawValue < Rank.hidden.rawValue }
    func order(_ path: String) -> (Int, String) {
      let rank = Rank(path)
      let exchanged: Rank = dataFirst && rank == .code ? .data : dataFirst && rank == .data ? .code : rank
      return (exchanged.rawValue, path)
    }
    return (visible.isEmpty ? own : visible).sorted { order($0) < order($1) }
  }

  /// Whether a file only tells git what to do with others.
  private static func isOfGit(_ path: String) -> Bool {
    [".gitattributes", ".gitignore", ".gitkeep", ".mailmap"].contains(path.split(separator: "/").last)
  }

  /// Whether a file may be code or data of the program.
  package static func isOfProgram(_ path: String) -> Bool { Rank(path).rawValue < Rank.tests.rawValue }

  private enum Rank: Int {
    case dependencies, code, data, tests, hidden, documentation

    init(_ path: String) {
      let parts = path.split(separator: "/")
      let name = parts.last?.split(separator: ".") ?? []
      let isText = documents.contains(name.first?.lowercased() ?? "") || texts.contains(name.last ?? "")
      if DependencyVersions.are(in: path) {
        self = .dependencies
      } else if isText {
        self = .documentation
      } else if parts.contains(where: { $0.hasPrefix(".") }) {
        self = .hidden
      } else if parts.dropLast().contains(where: ElsewhereChanges.tests.contains) {
        self = .tests
      } else {
        self = SourceLanguage(path: path) == nil ? .data : .code
      }
    }
  }

  /// What is known of a changed file with its text, each place with the part that its line is of: the first functions that
  /// changed, or else the first part; none if only comments and spaces of a source file changed.
  package static func places(of file: ChangedFile) -> [(place: ChangedPlace, part: ChangedFile.Part?)] {
    if DependencyVersions.are(in: file.path) {
      let changes = DependencyVersions.changes(in: file).prefix(mostDependencies)
      return [(ChangedPlace(file: file.path, dependencies: Array(changes)), nil)]
    }
    guard SourceLanguage(path: file.path) != nil else { return [(ChangedPlace(file: file.path), nil)] }
    let functions = functions(of: file)
    let places = file.codeParts.flatMap { part in
      let first = line(of: part, in: functions)
      // A part may end one function and add others.
      let added = functions.map(\.lines.lowerBound).filter { $0 > first && part.now.contains($0) }
      return ([first] + added).map { line in
        (
          place: ChangedPlace(file: file.path, line: line, function: function(at: line, in: functions)?.name),
          part: part
        )
      }
    }
    // Others are often imports.
    var named: Set<String> = []
    let inFunctions = places.filter { $0.place.function.map { named.insert($0).inserted } ?? false }
    return (inFunctions.isEmpty ? places.prefix(1) : inFunctions.prefix(mostFunctions)).map { ($0.place, $0.part) }
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
