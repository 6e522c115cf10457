import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Memory limits with scripted recordings")
struct LimitUseTests {
  private static let killed = End(.oom, signal: .kill, oomKills: 1)

  /// Holds 40 MiB where it may, and dies below 30.
  private static let script: ScriptedMeasurer.Script = { scenario, _ in
    let isKilled = scenario.memoryLimit.map { $0 < .mebibytes(30) } ?? false
    let held = scenario.memoryLimit.map { min(40, Double($0.count) / 1_048_576) } ?? 40
    return .holding(held, end: isKilled ? killed : End(.exited, code: 0))
  }

  private func limit(_ project: UseCaseProject, json: String? = nil) throws -> UseCaseProject.Outcome {
    var limit = Limit()
    limit.options.json = json
    return try project.run { try limit.run(in: $0) }
  }

  @Test("The answer comes with its runs, as JSON, and as lines for Kubernetes and the project file")
  func answer() throws {
    let project = try UseCaseProject(holding: 40)
    project.measurer.follow(Self.script)
    let outcome = try limit(project, json: "limits.json")
    #expect(outcome.code == .pass, "\(outcome.text)")
    let study = try project.scenario(of: "limits.json")
    let need = try #require(study["needs"] as? Double) / 1_048_576
    #expect((30...30.46).contains(need))
    #expect(study["runs"] as? Int == project.measurer.measured.count)
    #expect(study["fullSpeedFrom"] as? Double == study["needs"] as? Double)
    for text in ["load needs 30", "limits: {memory: 38Mi}", "limit: {survives: 38MiB}", "without swap"] {
      #expect(outcome.text.contains(text), "\(outcome.text)")
    }
  }

  @Test("Without a memory cgroup nothing is started")
  func noCgroup() throws {
    let project = try UseCaseProject(holding: 40)
    project.measurer.memoryLimiting.obstacle = .readOnly(folder: "/sys/fs/cgroup")
    let outcome = try limit(project)
    #expect(outcome.code == .usage && project.measurer.measured.isEmpty)
    #expect(outcome.text.contains("error: cannot limit memory: cannot create a memory cgroup here"), "\(outcome.text)")
  }

  @Test("A scenario that fails without a limit is told as in a check; an unfinished search tells what it knows")
  func failures() throws {
    let project = try UseCaseProject(holding: 40)
    project.measurer.follow { _, _ in .holding(40, end: End(.exited, code: 3)) }
    let failed = try limit(project)
    #expect(failed.code == .failed && failed.text.contains("exited with code 3"), "\(failed.text)")
    project.measurer.follow { scenario, start in start < 7 ? Self.script(scenario, start) : nil }
    let unfinished = try limit(project)
    #expect(unfinished.code == .inconclusive && unfinished.text.contains("needs at most"), "\(unfinished.text)")
  }

  @Test("A check runs a scenario once more at the limit of its `limit`: death is a regression, in every report")
  func gate() throws {
    let project = try UseCaseProject(
      holding: 40, scenarioKeys: "gate: {peak_rss: [3%, 512KiB]}\nlimit: {survives: 32MiB}")
    project.measurer.follow(Self.script)
    try project.checkAndApprove()
    #expect(project.measurer.measured.map(\.memoryLimit) == [nil, nil, .mebibytes(32)])
    let passed = try project.check()
    #expect(passed.code == .pass && !passed.text.contains("survive"), "\(passed.text)")

    try project.write(try project.read("highwater.yml").replacing("32MiB", with: "20MiB"), to: "highwater.yml")
    project.measurer.follow(Self.script)
    let died = try project.check { check in
      check.options.reports = [
        .init(.junit, path: "r.junit"), .init(.markdown, path: "r.markdown"), .init(.tap, path: "r.tap"),
        .init(.codequality, path: "r.codequality"), .init(.html, path: "r.html"),
      ]
    }
    #expect(died.code == .regression)
    let reason = "does not survive 20.0 MiB: killed by the kernel (out of memory)"
    #expect(died.text.contains(reason) && died.text.contains("highwater limit load"), "\(died.text)")
    #expect(!died.text.contains("highwater approve"), "\(died.text)")
    for format in ["junit", "markdown", "tap", "codequality", "html"] {
      let report = try project.read("r.\(format)").replacing("\u{a0}", with: " ").replacing("&nbsp;", with: " ")
      #expect(report.contains("does not survive 20.0 MiB"), "\(format): \(report)")
    }
    let scenario = try project.scenario()
    #expect((scenario["repetitions"] as? [Any])?.count == 2)
    #expect((scenario["limitedRun"] as? [String: Any])?["durationSeconds"] as? Double == 1)
    // Judged again from the file alone.
    let compared = try project.compare(".highwater/result.json", ".highwater/result.json")
    #expect(compared.code == .regression && compared.text.contains(reason), "\(compared.text)")
  }

  @Test("A check of a scenario with a `limit` fails before it starts where no limit can be set")
  func unavailable() throws {
    let project = try UseCaseProject(holding: 40, scenarioKeys: "limit: {survives: 32MiB}")
    project.measurer.memoryLimiting.obstacle = .readOnly(folder: "/sys/fs/cgroup")
    #expect(try project.check { $0.against = .command("other") }.code == .failed)
    let outcome = try project.check()
    #expect(outcome.code == .failed && project.measurer.measured.isEmpty)
    #expect(outcome.text.contains("`limit` is unavailable: cannot create a memory cgroup here"), "\(outcome.text)")
  }

  @Test("A scenario that has failed is not run at its limit; one that makes no progress there is a regression")
  func failedAndStalled() throws {
    let project = try UseCaseProject(holding: 40, scenarioKeys: "limit: {survives: 32MiB}")
    project.measurer.follow { _, _ in .holding(40, end: End(.exited, code: 1)) }
    #expect(try project.check().code == .failed)
    #expect(project.measurer.measured.map(\.memoryLimit) == [nil])
    project.measurer.follow { scenario, _ in
      guard scenario.memoryLimit != nil else { return .holding(40) }
      let timeout = End.Timeout.notEnded(within: scenario.timeout)
      var recording = Recording.holding(40, end: End(.timeout, cause: .timeout(kind: timeout, limitHits: nil)))
      recording.failure = Failure(part: .init(.end), problem: .timeout(kind: timeout))
      return recording
    }
    let stalled = try project.check()
    #expect(
      stalled.code == .regression && stalled.text.contains("too slow, stopped after 30 s"), "\(stalled.text)")
  }
}
