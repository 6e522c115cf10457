/// What `init` needs of a TOML file: texts in sections, each on a line of its own (toml.io).
struct TOMLText {
  /// In the order of the file; a section may occur several times, as `[[bin]]` does.
  private var entries: [(section: String, key: String, value: String)] = []

  /// Longer lines hold no name, and would make the search slow.
  private static let longestLine = 500

  init(_ text: String) {
    var section = ""
    for line in text.split(whereSeparator: \.isNewline) where line.utf8.count <= Self.longestLine {
      if let header = line.wholeMatch(of: #/\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:\#.*)?/#) {
        section = String(header.output.1)
      } else if let entry = line.firstMatch(of: #/^\s*"?([\w.-]+)"?\s*=\s*["']([^"']*)["']/#) {
        entries.append((section, String(entry.output.1), String(entry.output.2)))
      }
    }
  }

  func values(of key: String, in section: String) -> [String] {
    entries.filter { $0.section == section && $0.key == key }.map(\.value)
  }

  func keys(in section: String) -> [String] {
    entries.filter { $0.section == section }.map(\.key)
  }
}

/// What `init` needs of a Makefile: the rules for programs.
struct MakeText {
  /// In the order in which make(1) looks for them.
  static let names = ["GNUmakefile", "makefile", "Makefile"]

  /// The targets that may be programs, those of the first rule first, without prerequisites that are not built.
  private(set) var programs: [String] = []

  init(_ text: String) {
    var variables: [String: String] = [:]
    var rules: [(target: String, needs: [String])] = []
    for line in text.replacing("\\\n", with: " ").split(separator: "\n") {
      if let match = line.wholeMatch(of: #/\s*([\w.-]+)\s*[:?+]?:?=\s*([^\#]*)(?:\#.*)?/#) {
        variables[String(match.output.1)] = String(match.output.2)
      } else if let match = line.wholeMatch(of: #/([^\t\#:=][^:=]*):(?!=)([^=;\#]*)(?:[;\#].*)?/#) {
        let (targets, needs) = (Self.words(match.output.1, variables), Self.words(match.output.2, variables))
        rules += targets.map { ($0, needs) }
      }
    }
    let phony = Set(rules.filter { $0.target == ".PHONY" }.flatMap(\.needs) + ["all"])
    let built = rules.map(\.target)
    let first = rules.first { !$0.target.hasPrefix(".") }
    let wanted = (first.map { [$0.target] + $0.needs } ?? []).filter(built.contains) + built
    for name in wanted where !phony.contains(name) && !programs.contains(name) && Self.mayBeProgram(name) {
      programs.append(name)
    }
  }

  private static func words(_ text: Substring, _ variables: [String: String]) -> [String] {
    text.replacing(#/\$[({]([\w.-]+)[)}]/#) { variables[String($0.output.1)] ?? "" }
      .split(whereSeparator: \.isWhitespace).map(String.init)
  }

  /// Whether a name has neither a pattern nor the ending of a file that is no program; and is no usual phony target.
  private static func mayBeProgram(_ name: String) -> Bool {
    let others: Set = ["clean", "install", "test", "check", "distclean", "uninstall", "run", "FORCE"]
    return !others.contains(name) && !name.contains { "%$*()".contains($0) }
      && name.firstMatch(of: #/(?:^\.|\.(?:o|a|so|d|h|c|cc|cpp|txt|1|gz|html))/#) == nil
  }
}
