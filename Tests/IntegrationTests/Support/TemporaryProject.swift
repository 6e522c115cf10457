import Foundation
import Testing

/// A temporary project folder, removed on `deinit`.
final class TemporaryProject {
  let path: String

  /// Part of an environment variable of this project's targets, by which their processes are found.
  let marker = UUID().uuidString

  /// The process IDs of all runs.
  var runners: [Int32] = []

  private let cgroupsBefore = Set(OwnCgroups.all())

  /// Writes the project file.
  ///
  /// Unless the scenarios have defaults, checks do not explain: that would run each target four more times.
  init(_ yaml: String = "", explains: Bool = false) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let isPlain = "\n\(yaml)".contains("\nversion: 1\n") && !yaml.contains("defaults:")
    let defaults = isPlain && !explains ? "\ndefaults: {explain: off}\n" : ""
    if !yaml.isEmpty { try write(yaml + defaults, to: "highwater.yml") }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func url(_ name: String) -> URL {
    URL(fileURLWithPath: path).appendingPathComponent(name)
  }

  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(
      at: url(name).deletingLastPathComponent(), withIntermediateDirectories: true
    )
    try Data(text.utf8).write(to: url(name))
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
  }

  /// The result of the last check.
  func result() throws -> [String: Any] {
    let data = try Data(contentsOf: url(".highwater/result.json"))
    return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// The text of the project's baselines by path.
  func baselines() throws -> [String: String] {
    let root = url("baselines")
    let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    let files = paths.filter { $0.hasSuffix(".json") && !$0.contains("/profiles/") && !$0.contains("/details/") }
    return try files.reduce(into: [:]) { $0[$1] = try read("baselines/\($1)") }
  }

  /// The cgroups that runs of this project left behind.
  func cgroups() -> [String] {
    OwnCgroups.created(by: runners, since: cgroupsBefore)
  }

  /// The IDs and command lines of live processes with this project's marker in their environment.
  func survivors() throws -> [String] {
    let needle = Data(marker.utf8)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.compactMap { id in
      guard let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/environ")),
        environment.range(of: needle) != nil
      else { return nil }
      let words = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/cmdline"))) ?? Data()
      return "\(id) \(String(decoding: words, as: UTF8.self).replacingOccurrences(of: "\0", with: " "))"
    }
  }
}
