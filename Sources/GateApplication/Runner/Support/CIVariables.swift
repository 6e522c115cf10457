import FoundationEssentials
import GateCore

/// What the CI system of this job tells about the build.
///
/// A variable of Highwater's own, such as `HIGHWATER_COMMIT`, comes first. If no system is recognised, the variables of
/// all of them count.
struct CIVariables: Sendable {
  private let variables: [String: String]
  /// The recognised system.
  let system: CISystem?

  private static let longest = 1000

  init(_ variables: [String: String]) {
    self.variables = variables
    system = CISystem.allCases.first { system in
      guard let value = variables[system.row.variable], !value.isEmpty else { return false }
      return system.row.value.map { value == $0 } ?? (value.lowercased() != "false")
    }
  }

  /// A branch that is built may have a name of a commit, but no commit is named `HEAD`.
  var commit: String? { values(of: \.commit, own: "HIGHWATER_COMMIT").first { $0 != "HEAD" } }

  var subject: String? {
    values(of: \.subject, own: "HIGHWATER_SUBJECT").first.map { String($0.prefix { !$0.isNewline }) }
  }

  /// A name rather than a reference; TeamCity writes `<default>` for the default branch.
  var branch: String? { branches(of: \.branch, own: "HIGHWATER_BRANCH").first }

  /// Revisions of the branch that a pull request is to be merged into, the best known first; empty for another build.
  var targets: [String] {
    guard pullRequest != nil || self["HIGHWATER_TARGET_BRANCH"] != nil else { return [] }
    let branches = branches(of: \.targetBranch, own: "HIGHWATER_TARGET_BRANCH").map { "refs/remotes/origin/\($0)" }
    return values(of: \.targetCommit).filter { $0.allSatisfy(\.isHexDigit) } + branches
  }

  /// The number, also of a system that gives an address or a reference such as `refs/pull/7/merge`.
  var pullRequest: String? {
    values(of: \.pullRequest, own: "HIGHWATER_PULL_REQUEST").lazy.compactMap(Self.pullRequest).first
  }

  var buildURL: String? {
    values(of: \.buildURL, own: "HIGHWATER_BUILD_URL").first.map { $0.replacing(" ", with: "%20") }
  }

  var person: String? { values(of: \.person, own: "HIGHWATER_APPROVER").first }

  /// nil for a single job.
  var shard: RunInfo.Shard? { knownShard.flatMap { $0.count > 1 ? $0 : nil } }

  /// Also that of a single job, where the system numbers it.
  var knownShard: RunInfo.Shard? {
    rows.lazy.compactMap(\.shard).compactMap { shard in
      guard let index = value(of: shard.index).flatMap({ Int($0) }),
        let count = value(of: shard.count).flatMap({ Int($0) }),
        index >= shard.first, index - shard.first < count
      else { return nil }
      return RunInfo.Shard(index: index - shard.first + 1, count: count)
    }.first
  }

  /// Whether a CI system runs this job: they all set `CI`, but for Jenkins and Azure Pipelines.
  var isInCI: Bool {
    system != nil || !["", "0", "false"].contains(variables["CI", default: ""].lowercased())
  }

  /// The path of the file for the summary of this job.
  var summaryFile: String? { rows.lazy.flatMap(\.summaryFile).compactMap(value).first }

  // MARK: Sources

  /// Names rather than references.
  private func branches(of kind: KeyPath<CISystem.Row, [CISystem.Source]>, own: String) -> [String] {
    let names = values(of: kind, own: own).map { name in
      ["refs/heads/", "refs/tags/", "origin/"].reduce(name) { $0.hasPrefix($1) ? String($0.dropFirst($1.count)) : $0 }
    }
    return names.filter { $0 != "<default>" && !$0.hasPrefix("refs/") }
  }

  private func values(of kind: KeyPath<CISystem.Row, [CISystem.Source]>, own: String? = nil) -> [String] {
    let values = [own.flatMap { self[$0] }] + rows.flatMap { $0[keyPath: kind] }.map(value)
    return values.compactMap(\.self).map { String($0.prefix(Self.longest)) }
  }

  private var rows: [CISystem.Row] { (system.map { [$0] } ?? CISystem.allCases).map(\.row) }

  /// nil also for a blank value, which names nothing.
  private subscript(name: String) -> String? {
    variables[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
  }

  private func value(of source: CISystem.Source) -> String? {
    switch source {
    case .text(let template): text(of: template)
    case .json(let file, let keys, let variable, let value):
      self[variable] == value ? self[file].flatMap { Self.text(in: $0, at: keys) } : nil
    case .property(let name): property(name)
    }
  }

  /// Replaces the variables of a template.
  private func text(of template: String) -> String? {
    var parts = template.split(separator: "{", omittingEmptySubsequences: false)
    var text = String(parts.removeFirst())
    for part in parts {
      let pieces = part.split(separator: "}", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = pieces.first, let value = self[String(name)] else { return nil }
      text += value + (pieces.dropFirst().first ?? "")
    }
    return text
  }

  /// The number in `7`, `refs/pull/7/merge` or `https://host/group/project/pull/7`; nil for other texts.
  private static func pullRequest(in text: String) -> String? {
    let parts = text.split(separator: "/")
    let isReference = parts.first == "refs"
    let lists: Set<Substring> = ["pull", "pull-requests", "merge_requests"]
    let place = isReference ? (parts.count > 2 && parts[1] == "pull" ? 1 : nil) : parts.lastIndex(where: lists.contains)
    let number = parts.count == 1 ? parts.first : place.flatMap { parts[$0...].dropFirst().first }
    return number.flatMap { $0.allSatisfy(\.isNumber) ? String($0) : nil }
  }
}

// MARK: - Files of CI systems

extension CIVariables {
  private static let largestFile = 16 << 20

  private static func text(in file: String, at keys: [String]) -> String? {
    guard let bytes = try? SafeFile.read(file, atMost: largestFile) else { return nil }
    let value = try? JSONDecoder().decode(JSONText.self, from: Data(bytes))
    return value?[keys[...]]
  }

  /// A build parameter; TeamCity's first file names the one with all parameters.
  private func property(_ name: String) -> String? {
    guard let file = self["TEAMCITY_BUILD_PROPERTIES_FILE"] else { return nil }
    let own = Self.properties(in: file)
    if let value = own[name] { return value }
    return own["teamcity.configuration.properties.file"].flatMap { Self.properties(in: $0)[name] }
  }

  /// Lines of the form `key=value` with a backslash before special characters (`java.util.Properties`).
  private static func properties(in file: String) -> [String: String] {
    guard let bytes = try? SafeFile.read(file, atMost: largestFile) else { return [:] }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.reduce(into: [:]) { properties, line in
      guard line.first != "#", line.first != "!", let sign = line.firstIndex(of: "=") else { return }
      let (key, value) = (line[..<sign], line[sign...].dropFirst())
      properties[String(key.filter { $0 != "\\" && $0 != " " })] = String(value.replacing(/\\(.)/) { $0.output.1 })
    }
  }
}

/// A JSON value of which only texts, numbers and the objects around them are read.
private enum JSONText: Decodable {
  case text(String)
  case object([String: JSONText])
  case other

  init(from decoder: any Decoder) throws {
    if let object = try? [String: JSONText](from: decoder) {
      self = .object(object)
    } else if let text = try? decoder.singleValueContainer().decode(String.self) {
      self = .text(text)
    } else {
      self = .other
    }
  }

  /// The text behind these keys.
  subscript(keys: ArraySlice<String>) -> String? {
    switch (self, keys.first) {
    case (.text(let text), nil): text
    case (.object(let object), let key?): object[key]?[keys.dropFirst()]
    default: nil
    }
  }
}
