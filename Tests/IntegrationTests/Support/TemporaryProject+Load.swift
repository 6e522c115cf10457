import Foundation
import Testing

extension TemporaryProject {
  /// Holds the number of MiB in the file that its argument names.
  private static let program = """
    open my $file, '<', $ARGV[0] or die "no $ARGV[0]: $!";
    my $text = 'x' x (1048576 * <$file>);
    select undef, undef, undef, 0.08;
    """

  /// A project with the scenario `load`, whose target holds the size set by ``hold(_:)`` and adds to `started`.
  ///
  /// `keys` are lines of the project file and `scenarioKeys` lines of the scenario, without indentation.
  static func holding(_ mebibytes: Int, repetitions: Int = 2, keys: String = "", scenarioKeys: String = "") throws
    -> TemporaryProject
  {
    let lines = scenarioKeys.split(separator: "\n").map { "    \($0)\n" }.joined()
    let gate = scenarioKeys.contains("gate:") ? "" : "    gate: {peak_rss: [3%, 512KiB]}\n"
    let project = try TemporaryProject(
      """
      version: 1
      \(keys)
      scenarios:
        - name: load
          target: {command: [perl, hold.pl, size]}
          setup: ["echo >> started"]
          repetitions: \(repetitions)
          warmup: 0
      \(lines)\(gate)
      """)
    try project.write(program, to: "hold.pl")
    try project.hold(mebibytes)
    return project
  }

  /// Sets the number of MiB that targets hold from now on.
  func hold(_ mebibytes: Int) throws {
    try write("\(mebibytes)", to: "size")
  }

  /// The number of starts of the target of ``holding(_:repetitions:keys:scenarioKeys:)``.
  var starts: Int {
    (try? read("started").utf8.count) ?? 0
  }

  /// The only baseline of a scenario.
  func baselineFile(of scenario: String = "load") throws -> URL {
    let folder = url("baselines/\(scenario)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return folder.appendingPathComponent(try #require(names.first, "there is no baseline"))
  }

  /// Runs a check and approves its result as the baseline.
  func checkAndApprove() throws {
    _ = try Highwater.run("check", in: self)
    let outcome = try Highwater.run("approve", in: self)
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
  }

  /// Edits a JSON file, which then has no digest any more.
  func edit(_ file: URL, _ change: (inout [String: Any]) throws -> Void) throws {
    let data = try Data(contentsOf: file)
    var object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    try change(&object)
    object["digest"] = nil
    try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys]).write(to: file)
  }

  /// Edits the fingerprint of the scenario's baseline.
  func editFingerprint(_ field: String, _ value: Any) throws {
    try edit(baselineFile()) { baseline in
      var fingerprint = try #require(baseline["fingerprint"] as? [String: Any])
      fingerprint[field] = value
      baseline["fingerprint"] = fingerprint
    }
  }
}

extension Highwater {
  /// Runs a bash script in which `$HIGHWATER` is the program.
  static func shell(_ script: String, in project: TemporaryProject) throws -> Outcome {
    let variables = ["HIGHWATER": URL(fileURLWithPath: binary).path, "NO_COLOR": "1"]
    return try Running(["-c", script], in: project, variables: variables, program: "/bin/bash").wait()
  }

  /// Whether the tests run as root.
  static let isRoot = getuid() == 0
}

/// The JSON object in a text.
func object(in text: String) throws -> [String: Any] {
  try #require(
    JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "no JSON object: \(text.prefix(200))")
}
