import GateCore

/// Another build of the target, as given by `--against`.
///
/// As in a shell, leading words of the form NAME=VALUE set variables of the target. If a single word follows, it is a
/// program that replaces the scenario's, with the same arguments; several words are a whole command; no word leaves the
/// command unchanged.
struct ReplacedCommand: Equatable {
  let variables: [String: String]
  let words: [String]

  /// Splits the text into words; quotes and backslashes work as in a shell, and nothing is expanded.
  ///
  /// - Throws: `RunnerError` if the text is empty or a quote is not closed.
  init(parsing text: String) throws(RunnerError) {
    var words = try Self.words(of: text)
    var variables: [String: String] = [:]
    while let (name, value) = words.first.flatMap(Self.assignment) {
      variables[name] = value
      words.removeFirst()
    }
    guard !words.isEmpty || !variables.isEmpty else {
      throw Self.error("--against needs a program, a command, or NAME=VALUE")
    }
    self.variables = variables
    self.words = words
  }

  /// The scenario with this build as its target.
  ///
  /// A program with a slash in its name is a file, whose path is relative to `folder`, like all paths on the command
  /// line.
  ///
  /// - Throws: `RunnerError` if only a program is given and the scenario's own command is a shell command.
  func replacingTarget(of scenario: Scenario, from folder: String) throws(RunnerError) -> Scenario {
    guard scenario.target.running == nil else {
      throw RunnerError(
        problem: "--against replaces a command, but \(scenario.name) has none: its target is attached to",
        hint: "leave this scenario out, or compare it with its baseline")
    }
    var other = scenario
    other.target.environment.merge(variables) { _, new in new }
    switch (words.count, scenario.target.command) {
    case (0, _):
      break
    case (1, .arguments(let own)):
      other.target.command = .arguments([located(words[0], from: folder)] + own.dropFirst())
    case (1, .shell):
      throw RunnerError(
        problem: "--against gives a program, but the target of \(scenario.name) is a shell command",
        hint: "write the whole command, such as `--against \"sh -c '…'\"`, or only variables, such as `BUILD=old`"
      )
    default:
      other.target.command = .arguments([located(words[0], from: folder)] + words.dropFirst())
    }
    return other
  }

  private func located(_ program: String, from folder: String) -> String {
    program.contains("/") && !program.hasPrefix("/") ? "\(folder)/\(program)" : program
  }

  private static func assignment(_ word: String) -> (name: String, value: String)? {
    guard let equals = word.firstIndex(of: "=") else { return nil }
    let name = word[..<equals]
    let isName = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
    guard isName, let first = name.utf8.first, !(0x30...0x39).contains(first) else { return nil }
    return (String(name), String(word[word.index(after: equals)...]))
  }

  private static func words(of text: String) throws(RunnerError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        // Within double quotes a backslash is literal unless it precedes a character that it can escape (POSIX.1,
        // 2.2.3).
        let keepsBackslash = quote == "\"" && !["\"", "\\", "$", "`"].contains(character)
        word = (word ?? "") + (keepsBackslash ? "\\" : "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        if let finished = word { words.append(finished) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { throw error("--against has an unterminated quote or a trailing backslash") }
    if let word { words.append(word) }
    return words
  }

  private static func error(_ problem: String) -> RunnerError {
    RunnerError(
      problem: problem,
      hint: "such as `--against build-main/server`, `--against \"VERSION=old\"` or `--against \"python3 -s tool.py\"`"
    )
  }
}
