import GateCore

/// All errors of a project file and the files that it includes.
struct ProjectError: DiagnosticError, Equatable {
  /// In file order, and within a file in order of lines; never empty.
  let diagnostics: [Diagnostic]

  init(_ diagnostics: [Diagnostic]) {
    precondition(!diagnostics.isEmpty, "a project error without a diagnostic would explain nothing")
    self.diagnostics = diagnostics
  }

  init(_ diagnostic: Diagnostic) {
    self.init([diagnostic])
  }
}

extension ProjectError: CustomStringConvertible {
  /// The diagnostics with their hints, one after the other.
  var description: String {
    diagnostics.map(\.description).joined(separator: "\n")
  }
}

/// The diagnostics found so far while reading a project.
///
/// A class, since every reader of one project adds to the same list.
final class Findings {
  /// A hostile file could cause millions.
  static let most = 1000

  private var found: [(place: SourcePlace, diagnostic: Diagnostic)] = []
  private var known: Set<String> = []
  private var areSomeLeftOut = false
  /// Files in the order in which they were read.
  private var files: [String] = []

  /// Adds a diagnostic; duplicates at one location are ignored, since many scenarios may share the defaults.
  func add(_ problem: String, at place: SourcePlace, hint: String? = nil) {
    let diagnostic = Diagnostic(place: place.description, problem: problem, hint: hint)
    guard !isFull else {
      areSomeLeftOut = true
      return
    }
    guard known.insert(diagnostic.description).inserted else { return }
    if !files.contains(place.file) { files.append(place.file) }
    found.append((place, diagnostic))
  }

  /// Adds the errors of a file as a whole.
  func add(_ error: ProjectError, of file: String) {
    for diagnostic in error.diagnostics where known.insert(diagnostic.description).inserted {
      found.append((SourcePlace(file: file, line: 0, column: 0), diagnostic))
    }
  }

  /// Sets a file's position among the files, before it is read.
  func willRead(_ file: String) {
    if !files.contains(file) { files.append(file) }
  }

  var isEmpty: Bool { found.isEmpty }

  /// Whether the list is full, so that no more hints are needed.
  var isFull: Bool { found.count >= Self.most }

  /// All diagnostics by file and line.
  var sorted: [Diagnostic] {
    let order = Dictionary(uniqueKeysWithValues: files.enumerated().map { ($1, $0) })
    let ordered = found.enumerated().sorted { left, right in
      let (one, other) = (left.element.place, right.element.place)
      return (order[one.file] ?? 0, one.line, one.column, left.offset)
        < (order[other.file] ?? 0, other.line, other.column, right.offset)
    }
    let rest = Diagnostic(problem: "there are more than \(Self.most) errors, the others are not listed")
    return ordered.map(\.element.diagnostic) + (areSomeLeftOut ? [rest] : [])
  }
}
