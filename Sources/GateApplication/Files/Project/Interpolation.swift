import GateCore

/// Replaces `${NAME}` in a text from the environment; without one, `${NAME}` stays as it is.
///
/// `$${` is a literal `${`. An empty variable counts as unset: that is how CI systems pass a secret that a build is not
/// allowed to have.
struct Interpolation: Equatable {
  private(set) var text = ""
  /// The unset variables, in order of occurrence.
  private(set) var missing: [String] = []
  /// The text after a `${` that is not a valid variable, as in `${a-b}`.
  private(set) var malformed: String?

  init(of source: String, environment: [String: String]?) {
    var rest = source[...]
    while let dollar = rest.firstRange(of: "${") {
      let before = rest[..<dollar.lowerBound]
      if before.hasSuffix("$") {
        text += before.dropLast() + "${"
        rest = rest[dollar.upperBound...]
        continue
      }
      text += before
      let name = rest[dollar.upperBound...].prefix { $0 != "}" }
      guard Self.isVariable(name), name.endIndex < rest.endIndex else {
        malformed = "${" + name + (name.endIndex < rest.endIndex ? "}" : "")
        return
      }
      let value = environment.map { $0[String(name)] ?? "" } ?? "${\(name)}"
      if value.isEmpty { missing.append(String(name)) }
      text += value
      rest = rest[name.endIndex...].dropFirst()
    }
    text += rest
  }

  private static func isVariable(_ name: Substring) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, !(0x30...0x39).contains(first) else { return false }
    return bytes.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x5f
    }
  }
}

/// The paths and URLs of a scenario that have variables: as they were filled in, and as the file writes them.
final class WrittenTexts {
  private(set) var byFilledText: [String: String] = [:]

  /// Returns the filled text.
  func add(_ filled: String, as written: String) -> String {
    if written.contains("${") { byFilledText[filled] = written }
    return filled
  }
}

extension ReadingContext {
  /// A text with its variables replaced; reports unset variables, and never prints a value.
  func interpolated(_ text: String, at place: SourcePlace) -> String? {
    let result = Interpolation(of: text, environment: environment)
    if let malformed = result.malformed {
      printError(
        "`\(Shown.text(malformed))` is not a variable",
        at: place,
        hint: "write `${NAME}`, or `$${` for a literal `${`"
      )
      return nil
    }
    for name in result.missing {
      printError(
        "the environment variable `\(Shown.text(name))` is not set, or is empty",
        at: place,
        hint: "set it where highwater runs"
      )
    }
    return result.missing.isEmpty ? result.text : nil
  }

  /// An absolute path, from a path that may be relative to the root.
  func path(_ value: YAMLValue, as name: String, example: String) -> String? {
    guard let text = line(value, as: name, example: example), let full = interpolated(text, at: value.place) else {
      return nil
    }
    guard !Shown.hasHarmful(full), full.utf8.count <= 4000 else {
      printError("`\(name)` is not a path after its variables are replaced", at: value.place)
      return nil
    }
    return written.add(PathText.absolute(full, from: root), as: text)
  }

  /// As ``path(_:as:example:)``, of a file or folder that is the same in every environment, and not git's own: without
  /// variables.
  func fixedPath(_ value: YAMLValue, as name: String, example: String) -> String? {
    guard isFixed(value, as: name, example: example), let path = path(value, as: name, example: example),
      isOutsideGit(path, value, as: name, example: example)
    else { return nil }
    return path
  }

  /// Whether an absolute path is not in git's own folder; reports one that is.
  func isOutsideGit(_ path: String, _ value: YAMLValue, as name: String, example: String) -> Bool {
    guard PathText.isInGitFolder(PathText.relative(path, to: root)) else { return true }
    printError("`\(name)` must not be in `.git`", at: value.place, hint: "such as `\(example)`")
    return false
  }

  /// Whether a text has no variable; reports one that has.
  ///
  /// For what is published, as baselines and pages are: the value may be a secret.
  func isFixed(_ value: YAMLValue, as name: String, example: String) -> Bool {
    let text = value.scalar ?? ""
    guard Interpolation(of: text, environment: [:]) == Interpolation(of: text, environment: nil) else {
      printError("`\(name)` must not contain a variable", at: value.place, hint: "such as `\(example)`")
      return false
    }
    return true
  }

  /// An HTTP or HTTPS URL.
  func address(_ value: YAMLValue, as name: String) -> String? {
    guard let text = line(value, as: name, example: "\(name): http://127.0.0.1:8080/") else { return nil }
    guard let full = interpolated(text, at: value.place) else { return nil }
    // A variable that stays as it is may be any part of the URL.
    let isComplete = environment != nil || !full.contains("${")
    guard !isComplete || Self.isWebAddress(FreePort.fill(full, with: 1)) else {
      printError(
        "`\(name)` is not an HTTP URL",
        at: value.place,
        hint: "write `http://` or `https://`, then a host, without spaces"
      )
      return nil
    }
    return written.add(full, as: text)
  }

  /// Whether a text is `http://` or `https://`, a host, optionally a port from 1 to 65535, and anything without spaces.
  static func isWebAddress(_ text: String) -> Bool {
    guard text.utf8.count <= 8000, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return false }
    let lowered = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lowered.hasPrefix($0) }) else { return false }
    let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    let server = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let isLiteral = server.hasPrefix("[")
    let host = isLiteral ? server.prefix { $0 != "]" }.dropFirst() : server.prefix { $0 != ":" }
    let rest = server.dropFirst(isLiteral ? host.count + 2 : host.count)
    guard !host.isEmpty, !isLiteral || server.contains("]") else { return false }
    return rest.isEmpty || rest == ":" || rest.hasPrefix(":") && Port.number(rest.dropFirst()) != nil
  }
}

/// TCP ports.
enum Port {
  /// The number from 1 to 65535 in a text of digits.
  static func number(_ text: some StringProtocol) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { (1...65535).contains($0) ? $0 : nil }
  }
}
