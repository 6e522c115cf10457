import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("A check with broken or unwritable files")
struct UnusableFilesTests {
  /// A broken baseline file and its error message.
  struct BrokenBaseline: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: String
    let text: @Sendable (_ valid: String) -> String

    init(_ description: String, message expected: String = "error:", _ text: @escaping @Sendable (String) -> String) {
      testDescription = description
      self.expected = expected
      self.text = text
    }

    /// Replaces the first measured value.
    static func value(_ value: String, message expected: String) -> BrokenBaseline {
      BrokenBaseline("with the value \(value)", message: expected) { valid in
        valid.replacingOccurrences(
          of: #"("peak_rss" : \[\s*)[0-9]+"#, with: "$1\(value)", options: .regularExpression)
      }
    }
  }

  private static func withoutDigest(_ text: String) -> String {
    text.replacingOccurrences(of: #""digest" : "[^"]*",\s*"#, with: "", options: .regularExpression)
  }

  private static let brokenBaselines = [
    BrokenBaseline("empty") { _ in "" },
    BrokenBaseline("truncated") { String($0.prefix($0.count / 2)) },
    BrokenBaseline("of a later version", message: "highwater.baseline/2") {
      $0.replacingOccurrences(of: "baseline/1", with: "baseline/2")
    },
    BrokenBaseline("a result file", message: "highwater.result/1") {
      $0.replacingOccurrences(of: "baseline/1", with: "result/1")
    },
    BrokenBaseline("nested deeply") { _ in String(repeating: "[", count: 500_000) },
    BrokenBaseline("ten million bytes of nesting", message: "larger than") { _ in
      String(repeating: "{\"a\":", count: 2_000_000)
    },
    BrokenBaseline("of another scenario", message: "`scenario` is `save`") {
      withoutDigest($0).replacingOccurrences(of: "\"load\"", with: "\"save\"")
    },
    BrokenBaseline("of another environment", message: "`environment` is `minix-") {
      withoutDigest($0).replacingOccurrences(of: "\"linux-", with: "\"minix-")
    },
    .value("1e400", message: "error:"), .value("1e30", message: "too large"), .value("-5", message: "peak_rss"),
    .value("NaN", message: "error:"), .value("\"12\"", message: "peak_rss"), .value("null", message: "peak_rss"),
  ]

  @Test(
    "A broken baseline exits with 2, its path and a hint before a target starts; an approval replaces it",
    arguments: brokenBaselines)
  func brokenBaseline(_ broken: BrokenBaseline) throws {
    let project = try UseCaseProject(holding: 2)
    try project.checkAndApprove()
    let file = try project.baseline()
    let valid = try project.read(file)
    let text = broken.text(valid)
    #expect(text != valid)
    try project.write(text, to: file)
    project.measurer.hold(2)
    let check = try project.check()
    #expect(check.code == .usage && check.output.isEmpty)
    #expect(check.errors.contains(file) && check.errors.contains(broken.expected), "\(check.errors.prefix(500))")
    #expect(check.errors.contains("hint:"), "\(check.errors.prefix(500))")
    #expect(project.measurer.measured.isEmpty, "a target was started")
    #expect(try project.read(file) == text)
    #expect(try project.approve().code == .pass)
    #expect(try project.check().code == .pass)
  }

  @Test(
    "A baseline that is not a regular file is an error and does not block",
    arguments: ["pipe", "folder", "loop", "device"])
  func noRegularFile(kind: String) throws {
    let project = try UseCaseProject(holding: 2)
    try project.checkAndApprove()
    let file = try project.url(project.baseline())
    try FileManager.default.removeItem(at: file)
    switch kind {
    case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
    case "folder": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case "loop": try FileManager.default.createSymbolicLink(at: file, withDestinationURL: file)
    default: try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero")
    }
    project.measurer.hold(2)
    let check = try project.check()
    #expect(check.code == .usage)
    #expect(check.errors.contains(file.lastPathComponent))
    #expect(project.measurer.measured.isEmpty)
  }

  @Test("All broken baselines are reported at once")
  func allBroken() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      defaults: {repetitions: 1, warmup: 0}
      scenarios: [{name: one, target: {command: [a]}}, {name: two, target: {command: [a]}}]
      """, holding: 8)
    try project.checkAndApprove()
    for name in ["one", "two"] { try project.write("{", to: project.baseline(of: name)) }
    let check = try project.check()
    #expect(check.code == .usage)
    #expect(check.errors.contains("/one/") && check.errors.contains("/two/"), "\(check.errors)")
  }

  @Test(
    "A broken last result does not stop a check, and `approve` reports what is wrong with it",
    arguments: ["", "{", "null", "[]", #"{"schema": "highwater.result/2"}"#])
  func brokenResult(text: String) throws {
    let project = try UseCaseProject(holding: 2)
    try project.checkAndApprove()
    try project.write(text, to: ".highwater/result.json")
    let before = try project.baselines()
    let approval = try project.approve()
    #expect(approval.code == .usage)
    #expect(approval.errors.contains("result.json") && approval.errors.contains("hint:"), "\(approval.errors)")
    #expect(try project.baselines() == before)
    #expect(try project.check().code == .pass)
    #expect(try project.approve().code == .pass)
  }

  @Test(
    "An artifacts folder that cannot be created is an error before a target starts",
    arguments: ["file", "file/below", "/proc/highwater", "/dev/null"])
  func artifacts(path: String) throws {
    let project = try UseCaseProject(holding: 2)
    try project.write("2", to: "file")
    let check = try project.check { $0.options.artifacts = path }
    #expect(check.code == .usage)
    #expect(check.errors.contains("error:") && check.errors.contains("hint:"), "\(check.errors)")
    #expect(check.output.isEmpty && project.measurer.measured.isEmpty)
    #expect(try project.read("file") == "2")
  }

  @Test("A report that cannot be written is an error before a target starts", arguments: ReportFormat.allCases)
  func unwritableReport(format: ReportFormat) throws {
    let project = try UseCaseProject(holding: 2)
    try project.write("", to: "file")
    for place in ["file/out", ".", "/proc/out"] {
      let check = try project.check { $0.options.reports = [ReportFile(format, path: place)] }
      #expect(check.code == .usage && check.errors.contains("hint:"), "\(check.text)")
      #expect(project.measurer.measured.isEmpty && !project.exists(".highwater/result.json"))
    }
  }

  @Test(
    "If a report cannot be written in the end, the verdict and the other reports remain, and a pass becomes 3",
    arguments: [
      (2, ExitCode.failed, "pass"), (12, .regression, "regression"), (nil, .noBaseline, "no-baseline"),
    ] as [(Double?, ExitCode, String)])
  func lostReport(mebibytes: Double?, code: ExitCode, verdict: String) throws {
    let project = try UseCaseProject(holding: 2)
    if mebibytes != nil { try project.checkAndApprove() }
    let folder = project.url("reports").path
    project.measurer.follow { _, _ in
      try? FileManager.default.removeItem(atPath: folder)
      _ = FileManager.default.createFile(atPath: folder, contents: nil)
      return .holding(mebibytes ?? 2)
    }
    let check = try project.check { check in
      check.options.html = "reports/run.html"
      check.options.reports = [ReportFile(.junit, path: "reports/a.xml"), ReportFile(.markdown, path: "run.md")]
    }
    #expect(check.code == code && check.verdict == code.name, "\(check.text)")
    #expect(check.errors.contains("reports/run.html: error:") && check.errors.contains("reports/a.xml: error:"))
    #expect(try project.read("run.md").contains(verdict))
    #expect(try project.result()["verdict"] as? String == verdict)
  }

  @Test("`--quiet` prints less and ends with the verdict")
  func quiet() throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    let (quiet, normal) = (try project.check(.quiet), try project.check())
    #expect(quiet.verdict == "pass" && quiet.errors.isEmpty)
    #expect(quiet.output.utf8.count <= normal.output.utf8.count)
    project.measurer.hold(12)
    let worse = try project.check(.quiet)
    #expect(worse.code == .regression && worse.verdict == "regression")
    #expect(worse.output.contains("load"))
  }

  @Test("The same JSON goes to the artifacts, to a file and, alone, to standard output")
  func json() throws {
    let project = try UseCaseProject(holding: 8)
    let printed = try project.check { $0.options.json = "-" }
    #expect(try printed.output == project.read(".highwater/result.json"))
    #expect(printed.errors.contains("no-baseline"))
    _ = try project.check { $0.options.json = "reports/out.json" }
    #expect(try project.read("reports/out.json") == project.read(".highwater/result.json"))
  }

  @Test("Every format is written at once, with the line of the scenario in the project file")
  func allFormats() throws {
    let project = try UseCaseProject(holding: 2)
    try project.checkAndApprove()
    project.measurer.hold(12)
    let check = try project.check { check in
      check.options.reports = ReportFormat.allCases.map { ReportFile($0, path: "reports/\($0.rawValue)") }
    }
    #expect(check.code == .regression)
    let starts = [
      "{", "<!doctype html>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites",
      "<!-- highwater: highwater.yml ", "TAP version 13\n1..1\nnot ok 1 - load\n", "[\n", "# TYPE highwater_",
      "highwater: regression: ",
    ]
    #expect(starts.count == ReportFormat.allCases.count)
    for (format, start) in zip(ReportFormat.allCases, starts) {
      #expect(try project.read("reports/\(format.rawValue)").hasPrefix(start), "\(format)")
    }
    #expect(try project.read("reports/codequality").contains("\"begin\" : 4"))
    let compared = try project.compare("reports/json", "reports/json") {
      $0.options.reports = [ReportFile(.markdown, path: "-")]
    }
    #expect(compared.output.hasPrefix("<!-- highwater: linux-") && compared.errors.contains("highwater: "))
  }
}
