import FoundationEssentials
import GateCore

@testable import GateApplication

extension FuzzTarget {
  /// A project file; the file that it may include is always the same.
  static let project = FuzzTarget("project", alsoWith: ["FilesTests/Golden/contract.yml"]) { input in
    let variables = ["HOST": "example.org", "SECRET": "s3cret", "LONG": String(repeating: "a", count: 3000)]
    Scratch.write("scenarios:\n  - {name: other, target: {command: [x]}}\n".utf8, to: "included.yml")
    let file = Scratch.write(input, to: "highwater.yml")
    let project: Project
    do throws(ProjectError) {
      project = try ProjectFile.load(file, environment: variables, workingDirectory: Scratch.folder)
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    for scenario in project.scenarios {
      try promise(scenario.name.pathComponent.utf8.count <= 160, "the path of \(scenario.name) is too long")
      try promise(scenario.timeout > .zero && scenario.interval > .zero, "a time of \(scenario.name) is zero")
    }
    try PrintedText.expectHarmless(ListingReport.text(project, style: TerminalStyle()))
  }

  /// A baseline file.
  static let baseline = FuzzTarget("baseline", alsoWith: ["FilesTests/Golden/baseline.json"]) { input in
    let baseline: Baseline
    do throws(FileError) {
      baseline = try BaselineFile.decode(input, path: "b.json")
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    try promise(input.count > BaselineFile.largest || BaselineFile.claims(input), "a baseline is not known as one")
    try expectRoundTrip(baseline, BaselineFile.encode) { try BaselineFile.decode($0, path: "b.json") }
    _ = baseline.creep(under: .standard)
  }

  /// A stored memory profile, compared with itself.
  static let profile = FuzzTarget("profile", alsoWith: ["FilesTests/Golden/profile.json"]) { input in
    let profile: ProfiledBuild
    do throws(FileError) {
      profile = try ProfileFile.decode(input, path: "p.json")
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    try expectRoundTrip(profile, ProfileFile.encode) { try ProfileFile.decode($0, path: "p.json") }
    try promise(ProfileFile.encode(profile).count <= ProfileFile.largest, "the file is too large")
    let comparison = profile.comparison(with: profile)
    try promise(comparison?.finding?.culprit == nil, "a function is named though nothing changed")
    let explanation = Explanation(scenario: ScenarioName("x"), comparison: comparison)
    try PrintedText.expectHarmless(ExplainReport.text([explanation], style: TerminalStyle()))
  }

  /// What an interrupted search has measured.
  static let bisectState = FuzzTarget("bisect-state") { input in
    let state: BisectState
    do throws(FileError) {
      state = try BisectStateFile.decode(input, path: "s.json")
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    try expectRoundTrip(state, BisectStateFile.encode) { try BisectStateFile.decode($0, path: "s.json") }
  }

  /// A result file, and all reports of it.
  static let result = FuzzTarget("result", alsoWith: ["FilesTests/Golden/result.json"]) { input in
    let result: RunResult
    do throws(FileError) {
      result = try ResultFile.decode(input, path: "r.json")
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    try expectRoundTrip(result, { ResultFile.encode($0, words: .reports) }) {
      try ResultFile.decode($0, path: "r.json")
    }
    try expectReports(of: result)
    for scenario in result.scenarios {
      let baseline = Baseline(of: scenario, approval: Approval(at: .now, by: "x", commit: nil, reason: nil, run: "y"))
      guard !baseline.metrics.isEmpty else { continue }
      try expectRoundTrip(baseline, BaselineFile.encode) { try BaselineFile.decode($0, path: "b.json") }
    }
  }

  private static func expectReports(of result: RunResult) throws {
    for detail in SummaryContext.Detail.allCases {
      let context = SummaryContext(detail: detail, exitCode: result.verdict.exitCode, outputFolder: "o")
      try PrintedText.expectHarmless(SummaryReport.text(result, style: TerminalStyle(), context: context))
    }
    for format in Webhook.Format.allCases {
      let body = NotificationBody.bytes(
        result, states: [:], format: format, links: (result.run.buildURL, nil), exitCode: result.verdict.exitCode)
      if format == .text {
        try PrintedText.expectHarmless(String(decoding: body, as: UTF8.self))
      } else {
        try promise((try? JSONScan.check(body)) != nil, "the notification for \(format) is not JSON")
      }
    }
    try PrintedText.expectOpenMetrics(OpenMetricsReport.text(result.summary))
  }

  /// Two result or baseline files; without a zero byte, the file is compared with itself.
  static let comparison = FuzzTarget("comparison", alsoWith: ["FilesTests/Golden/result.json"]) { input in
    let parts = input.parts(1 + min(1, input.count { $0 == 0 }))
    var command = Compare(
      base: Scratch.write(parts[0], to: "base.json"), current: Scratch.write(parts.last ?? [], to: "current.json"))
    command.options.json = Scratch.path("compared.json")
    command.options.html = Scratch.path("compared.html")
    let console = ScratchConsole()
    do {
      _ = try command.run(in: console.invocation)
    } catch let error as any DiagnosticError {
      console.invocation.console.printError(error)
      return try console.expectHarmless()
    }
    try console.expectHarmless()
    try PageScripts.expectOwn(in: Scratch.bytes(of: "compared.html"))
    let written = Scratch.bytes(of: "compared.json")
    do {
      _ = try ResultFile.decode(written, path: "compared.json")
    } catch {
      throw BrokenPromise(description: "the result of the comparison cannot be read: \(error)")
    }
  }

  /// One line of a history's export.
  static let runLine = FuzzTarget("run-line", alsoWith: ["FilesTests/Golden/run.jsonl"]) { input in
    let run: RunSummary
    do throws(FileError) {
      run = try RunLine.decode(input, path: "h.jsonl", line: 1)
    } catch {
      return try PrintedText.expectReadable(error.diagnostics)
    }
    try expectRoundTrip(run, RunLine.encode) { try RunLine.decode($0, path: "h.jsonl", line: 1) }
    try PrintedText.expectHarmless(HistoryReport.text([run], of: [], style: TerminalStyle()))
    try PrintedText.expectOpenMetrics(OpenMetricsReport.text(run))
  }
}
