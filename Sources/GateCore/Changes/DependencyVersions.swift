/// The versions of dependencies in files of package managers.
package enum DependencyVersions {
  private static let names: Set<String> = [
    "package-lock.json", "package.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "Cargo.toml", "go.sum", "go.mod",
    "Package.resolved", "poetry.lock", "uv.lock", "Pipfile.lock", "pyproject.toml", "Gemfile.lock", "composer.lock",
    "conanfile.txt", "vcpkg.json", "packages.lock.json", "Dockerfile",
  ]
  private static let endings = [".csproj", ".fsproj", ".lock"]

  /// Whether a file names dependencies with versions.
  package static func are(in path: String) -> Bool {
    let name = String(TrackedFiles.name(of: path))
    return names.contains(name) || endings.contains(where: name.hasSuffix)
      || name.hasSuffix(".txt") && ["requirements", "constraints"].contains(where: name.contains)
  }

  /// What changed in such a file, as far as lines show it: other versions, then new and removed dependencies, which often
  /// only come with them.
  package static func changes(in file: ChangedFile) -> [DependencyChange] {
    let before = versions(file.before, in: file.parts.map(\.before))
    let now = versions(file.now, in: file.parts.map(\.now))
    let names = Set(before.keys).union(now.keys).sorted()
    let changes = names.compactMap { name in
      before[name] == now[name] ? nil : DependencyChange(name: name, before: before[name], now: now[name])
    }
    return changes.filter(\.isOfVersion) + changes.filter { !$0.isOfVersion }
  }

  /// The versions in the changed lines by the names of the dependencies.
  private static func versions(_ lines: [String], in ranges: [Range<Int>]) -> [String: String] {
    var versions: [String: String] = [:]
    for at in ranges.joined() {
      let line = lines[at - 1]
      if let (name, version) = pair(in: line) {
        versions[name] = version
      } else if let version = value(of: "version", in: line), let name = name(above: at, in: lines) {
        versions[name] = version
      }
    }
    return versions
  }

  /// How far above its version a name is: `name = "x"` (Cargo.lock), `"node_modules/x": {` (package-lock.json).
  private static let furthestName = 6

  private static func name(above line: Int, in lines: [String]) -> String? {
    for text in lines[max(0, line - 1 - furthestName)..<line - 1].reversed() {
      if let name = value(of: "name", in: text) ?? value(of: "identity", in: text) { return name }
      let words = text.split { $0.isWhitespace }
      if words.count == 2, words[1] == "{", let key = quoted(words[0].dropLast()) {
        return String(TrackedFiles.name(of: key))
      }
    }
    return nil
  }

  /// The text of `key = "text"` and `"key": "text"`.
  private static func value(of key: String, in line: String) -> String? {
    let parts = line.split(maxSplits: 1) { $0 == "=" || $0 == ":" }
    guard parts.count == 2 else { return nil }
    let left = parts[0].filter { !$0.isWhitespace && $0 != "\"" }
    return left == key ? quoted(parts[1]) : nil
  }

  /// What is between the first two quotation marks; nil without.
  private static func quoted(_ text: Substring) -> String? {
    let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
    return parts.count >= 3 ? String(parts[1]) : nil
  }

  /// A name and its version on one line: `x==1.2`, `x v1.2 h1:…` (go.sum), `"x": "^1.2"`, `x = "1.2"`,
  /// `Include="x" Version="1.2"`, `FROM x:1.2`.
  private static func pair(in line: String) -> (String, String)? {
    let text = line.prefix(1000)
    if let equal = text.firstRange(of: "==") {
      return named(text[..<equal.lowerBound], text[equal.upperBound...].prefix { !" ;,#\\".contains($0) })
    }
    if let include = attribute("Include", in: text), let version = attribute("Version", in: text) {
      return named(include, version)
    }
    let words = text.split { $0.isWhitespace }
    if words.count >= 2, words[0] == "FROM" {
      let parts = words[1].split(separator: ":", maxSplits: 1)
      return parts.count == 2 ? named(parts[0], parts[1]) : nil
    }
    if let at = words.firstIndex(where: { $0.first == "v" && $0.dropFirst().first?.isNumber == true }), at > 0 {
      return words[at].hasSuffix("/go.mod") ? nil : named(words[at - 1], words[at])
    }
    return assigned(text)
  }

  private static func assigned(_ text: Substring) -> (String, String)? {
    let parts = text.split(maxSplits: 1) { $0 == "=" || $0 == ":" }
    guard parts.count == 2, let version = quoted(parts[1]), version.contains(where: \.isNumber) else { return nil }
    let name = parts[0].filter { !$0.isWhitespace && $0 != "\"" }
    // These are keys of a block that has a name.
    let keys: Set = ["version", "resolved", "integrity", "checksum", "revision", "hash", "source"]
    return keys.contains(name) ? nil : named(name[...], version[...])
  }

  private static func attribute(_ name: String, in text: Substring) -> Substring? {
    guard let start = text.firstRange(of: "\(name)=\"") else { return nil }
    return text[start.upperBound...].prefix { $0 != "\"" }
  }

  private static let longest = 100

  private static func named(_ name: some StringProtocol, _ version: Substring) -> (String, String)? {
    let name = String(name.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != "[" })
    guard !name.isEmpty, !version.isEmpty, name.count <= longest, version.count <= longest else { return nil }
    return (name, String(version))
  }
}
