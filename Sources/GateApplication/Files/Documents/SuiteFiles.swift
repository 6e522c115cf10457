import GateCore

/// The result of a suite's run (`highwater.suite/1`), for an approval and for other programs.
enum SuiteFile {
  /// A run of 100,000 tests takes about 60 MB.
  private static let largest = 256 << 20

  static func encode(_ result: SuiteResult) -> [UInt8] {
    JSON.encode(WithSchema(schema: .suite, content: Document(result: result)), .pretty)
  }

  static func read(_ path: String) throws(FileError) -> SuiteResult {
    let bytes = try SafeFile.read(path, atMost: largest)
    return try JSON.decode(Document.self, from: bytes, path: path, hint: "run `highwater suite` again").result
  }

  private struct Document: Codable {
    let result: SuiteResult

    private enum Key: CodingKey {
      case tool, verdict, exitCode, run
    }

    init(result: SuiteResult) {
      self.result = result
    }

    init(from decoder: any Decoder) throws {
      try Schema.suite.check(decoder)
      result = try SuiteResult(from: decoder)
      guard result.run != nil else { throw try decoder.container(keyedBy: Key.self).corrupted(.run, "is missing") }
    }

    func encode(to encoder: any Encoder) throws {
      try result.encode(to: encoder)
      var fields = encoder.container(keyedBy: Key.self)
      try fields.encode(Tool.fields, forKey: .tool)
      try fields.encode(result.verdict, forKey: .verdict)
      try fields.encode(result.verdict.exitCode.rawValue, forKey: .exitCode)
    }
  }
}

/// The baseline of a suite (`highwater.suite-baseline/1`): one file for an environment, with one line for each test, sorted
/// by name.
struct SuiteBaselineFile {
  let path: String

  /// A baseline of 100,000 tests takes about 15 MB.
  private static let largest = 64 << 20

  /// `<folder>/<suite>/<environment>.suite.json`.
  init(_ suite: ScenarioName, _ environment: String, in folder: String) {
    path = "\(folder)/\(suite.pathComponent)/\(FileName.component(for: environment)).suite.json"
  }

  /// nil if there is none.
  func read() throws(FileError) -> SuiteBaseline? {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try SafeFile.read(path, atMost: Self.largest) } catch let error
      where error.code == .notFound
    { return nil }
    let hint = "restore the file from version control, or recreate it with `highwater approve --suite`"
    return try JSON.decode(Checked.self, from: bytes, path: path, hint: hint).baseline
  }

  func write(_ baseline: SuiteBaseline) throws(FileError) {
    try SafeFile.write(Self.encode(baseline), to: path)
  }

  /// The members in a fixed order, and each test on one line.
  static func encode(_ baseline: SuiteBaseline) -> [UInt8] {
    func line(_ value: some Encodable) -> String {
      String(decoding: JSON.encode(value, .line).dropLast(), as: UTF8.self)
    }
    let names = baseline.tests.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let tests = names.compactMap { name in baseline.tests[name].map { "    \(line(name)): \(line($0))" } }
    let text = """
      {
        "schema": \(line(Schema.suiteBaseline.text)),
        "suite": \(line(baseline.suite)),
        "environment": \(line(baseline.environment)),
        "framework": \(line(baseline.framework)),
        "approved": \(line(baseline.approval)),
        "tests": {
      \(tests.joined(separator: ",\n"))
        }
      }

      """
    return Array(text.utf8)
  }

  private struct Checked: Decodable {
    let baseline: SuiteBaseline

    init(from decoder: any Decoder) throws {
      try Schema.suiteBaseline.check(decoder)
      baseline = try SuiteBaseline(from: decoder)
    }
  }
}
