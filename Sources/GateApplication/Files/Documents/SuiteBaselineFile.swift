import GateCore

/// The baseline of a suite (`highwater.suite-baseline/1`): one file for an environment, with one line for each test, sorted
/// by name.
struct SuiteBaselineFile {
  let path: String

  static let ending = ".suite.json"

  /// A baseline of 100,000 tests takes about 15 MB.
  private static let largest = 64 << 20

  init(path: String) {
    self.path = path
  }

  /// `<folder>/<suite>/<environment>.suite.json`.
  init(_ suite: ScenarioName, _ environment: String, in folder: String) {
    path = "\(folder)/\(suite.pathComponent)/\(FileName.component(for: environment))\(Self.ending)"
  }

  /// nil if there is none.
  func read() throws(FileError) -> SuiteBaseline? {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try SafeFile.read(path, atMost: Self.largest) } catch let error
      where error.code == .notFound
    { return nil }
    let hint = "restore the file from version control, or recreate it with `highwater approve --force`"
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
        "command": \(line(baseline.command)),
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

extension SuiteBaselineFile {
  /// Writes what a result makes of the baseline, unless nothing changes; `forces` replaces one that cannot be read.
  func approve(
    _ result: SuiteResult, _ approval: Approval, forces: Bool
  ) throws(FileError) -> (previous: SuiteBaseline?, baseline: SuiteBaseline, change: SuiteBaselineChange) {
    let previous = forces ? try? read() : try read()
    let baseline = SuiteBaseline(of: result, replacing: previous, approval: approval)
    let change = SuiteBaselineChange(from: previous, to: baseline)
    if !change.isEmpty { try write(baseline) }
    return (previous, baseline, change)
  }
}
