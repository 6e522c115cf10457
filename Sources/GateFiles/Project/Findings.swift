import GateCore

/// The diagnostics that reading a project has gathered so far.
///
/// A class, since every reader of one project adds to the same list.
final class Findings {
  /// More would help nobody, and a hostile file could name millions.
  static let most = 1000

  private var found: [(place: SourcePlace, diagnostic: Diagnostic)] = []
  private var known: Set<String> = []
  private var areSomeLeftOut = false
  /// Files in the order in which they were read.
  private var files: [String] = []

  /// Adds a diagnostic; the same one at the same place counts once, as where many scenarios share the defaults.
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

  /// Adds what was wrong with a file as a whole.
  func add(_ error: ProjectError, of file: String) {
    for diagnostic in error.diagnostics where known.insert(diagnostic.description).inserted {
      found.append((SourcePlace(file: file, line: 0, column: 0), diagnostic))
    }
  }

  /// Fixes a file's position among the files before anything is found in it.
  func willRead(_ file: String) {
    if !files.contains(file) { files.append(file) }
  }

  var isEmpty: Bool { found.isEmpty }

  /// Whether nothing more is listed, so that hints need not be made either.
  var isFull: Bool { found.count >= Self.most }

  /// All diagnostics in the order of the files and their lines.
  var sorted: [Diagnostic] {
    let order = Dictionary(uniqueKeysWithValues: files.enumerated().map { ($1, $0) })
    let ordered = found.enumerated().sorted { left, right in
      let (one, other) = (left.element.place, right.element.place)
      return (order[one.file] ?? 0, one.line, one.column, left.offset)
        < (order[other.file] ?? 0, other.line, other.column, right.offset)
    }
    let rest = Diagnostic(problem: "there are more errors than the \(Self.most) listed here")
    return ordered.map(\.element.diagnostic) + (areSomeLeftOut ? [rest] : [])
  }
}
