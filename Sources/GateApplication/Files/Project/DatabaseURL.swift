import GateCore

/// Reads the URL of a database, in which `${NAME}` stands for a variable.
enum DatabaseURL {
  enum Fault: Error, Equatable {
    case malformedVariable(String)
    /// Its parts are not clear, as where a password contains a slash.
    case malformed
    /// The URL of something else, with its scheme.
    case scheme(String)
    case project
    /// The URL contains a password that is not a variable.
    case password
  }

  private static let schemes = ["postgresql://", "postgres://"]

  /// The address that a text describes; nil if it is not a URL, but a path.
  static func address(
    _ text: String, environment: [String: String]
  ) throws(Fault) -> DatabaseAddress? {
    let url = Interpolation(of: text, environment: environment)
    guard let scheme = schemes.first(where: { text.hasPrefix($0) || url.text.hasPrefix($0) }) else {
      if let other = url.text.prefixMatch(of: /([A-Za-z][A-Za-z0-9+.-]*):\/\//) { throw .scheme(String(other.1)) }
      return nil
    }
    if let malformed = url.malformed { throw .malformedVariable(malformed) }
    let isWritten = text.hasPrefix(scheme)
    if isWritten, passwords(in: text.dropFirst(scheme.count)).contains(where: hasLiteral) { throw .password }
    let rest = url.text.dropFirst(scheme.count)
    guard let shown = shown(rest) else { throw .malformed }
    return DatabaseAddress(
      url: Secret(url.text),
      shown: scheme + shown,
      secrets: ([url.text] + passwords(in: rest)).map { Secret($0) },
      unsetVariables: url.missing)
  }

  /// The user, the hosts and the database; nil if the parts of the URL are not clear.
  private static func shown(_ rest: Substring) -> String? {
    let host = #"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._%-]*)(?::[0-9]{1,5})?"#
    let parameter = #"[^=&?\s]+=[^&?\s]*"#
    let text =
      #"(?:([^:@/?\s]*)(?::[^@/?\s]*)?@)?(\#(host)(?:,\#(host))*(?:/[^@/?\s]*)?)"#
      + #"(?:\?\#(parameter)(?:&\#(parameter))*)?"#
    guard let url = try? Regex(text, as: (Substring, Substring?, Substring).self),
      let match = rest.wholeMatch(of: url)
    else { return nil }
    return (match.1.map { "\($0)@" } ?? "") + match.2
  }

  private static func passwords(in rest: Substring) -> [String] {
    let user = rest.lastIndex(of: "@").map { rest[..<$0] }
    let password = user.flatMap { user in user.firstIndex(of: ":").map { user[user.index(after: $0)...] } }
    let parameters = rest.split(separator: "?").dropFirst().flatMap { $0.split(separator: "&") }
    let named = parameters.filter { $0.hasPrefix("password=") || $0.hasPrefix("sslpassword=") }
      .map { $0.drop { $0 != "=" }.dropFirst() }
    return ([password].compactMap(\.self) + named).filter { !$0.isEmpty }.map(String.init)
  }

  /// Whether there is anything besides variables.
  private static func hasLiteral(_ text: String) -> Bool {
    let interpolation = Interpolation(of: text, environment: [:])
    return interpolation.malformed != nil || !interpolation.text.isEmpty
  }
}

extension DatabaseURL.Fault {
  var diagnostic: (problem: String, hint: String) {
    switch self {
    case .malformedVariable(let text):
      ("`\(Shown.text(text))` is not a variable", "write `${NAME}`, or `$${` for a literal `${`")
    case .malformed:
      (
        "the URL of the history is not `postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE`",
        "write special characters as `%XX`, such as `%40` for `@` and `%2F` for `/` in a password"
      )
    case .scheme(let scheme):
      (
        "a history is a SQLite file or a PostgreSQL database, and `\(Shown.text(scheme)):` is neither",
        "name a file, or `postgresql://USER@HOST:PORT/DATABASE`"
      )
    case .password:
      (
        "the URL of the history contains a password",
        "use `${NAME}`, the variable `PGPASSWORD`, or a password file (`PGPASSFILE`)"
      )
    case .project:
      ("a project has a name in a database only", "write `{url: \"postgresql://…\", project: NAME}`")
    }
  }
}
