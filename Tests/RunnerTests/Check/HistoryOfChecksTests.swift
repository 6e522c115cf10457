import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("History written by checks")
struct HistoryOfChecksTests {
  private let database = ".highwater/history.sqlite"

  private func project(
    holding mebibytes: Double = 8,
    keys: String = "",
    scenarioKeys: String = "gate: {peak_rss: [3%, 512KiB]}"
  ) throws -> UseCaseProject {
    try UseCaseProject(holding: mebibytes, repetitions: "1", keys: keys, scenarioKeys: scenarioKeys)
  }

  private func history(_ task: HistoryUse.Task, in project: UseCaseProject) throws -> UseCaseProject.Outcome {
    try project.run { try HistoryUse(task, SharedOptions()).run(in: $0) }
  }

  private func rows(in project: UseCaseProject) throws -> [Substring] {
    try history(.list(names: [], limit: 20), in: project).output.split(separator: "\n")
  }

  private func importing(_ file: String, into project: UseCaseProject) throws -> UseCaseProject.Outcome {
    try project.run { try HistoryImport(files: [file]).run(in: $0) }
  }

  @Test("A check adds its run, which is listed and exported; importing its result again adds nothing")
  func added() throws {
    let project = try project()
    try project.checkAndApprove()
    #expect(try project.check().code == .pass)
    let listed = try rows(in: project)
    #expect(listed.count == 3)
    #expect(listed[0].hasPrefix("date (UTC)") && listed[1].contains("no-baseline") && listed[2].contains("pass"))
    #expect(listed.allSatisfy { $0.count <= 80 })

    let export = try history(.export, in: project).output
    #expect(export.split(separator: "\n").allSatisfy { $0.contains("\"highwater.run/2\"") })
    let again = try importing(".highwater/result.json", into: project)
    #expect(again.code == .pass && again.errors == "added 0 runs, 1 already there\n", "\(again.errors)")
    #expect(try history(.export, in: project).output == export)

    let metrics = try history(.exportOpenMetrics, in: project).output
    #expect(metrics.contains("highwater_verdict{scenario=\"load\"") && metrics.hasSuffix("# EOF\n"))
    #expect(try history(.keep(1), in: project).errors == "removed 1 run\n")
    #expect(try rows(in: project).count == 2)
  }

  @Test("A name that no scenario of the history has is an error, with the one that was probably meant")
  func unknownScenario() throws {
    let project = try project()
    _ = try project.check()
    #expect(try history(.list(names: ["load"], limit: 20), in: project).output.contains("no-baseline"))
    func outcomes(of names: [String]) throws -> [UseCaseProject.Outcome] {
      let events = EventList(names: names, limit: 20, options: SharedOptions())
      return [
        try history(.list(names: names, limit: 20), in: project), try project.run { try events.run(in: $0) },
      ]
    }
    for outcome in try outcomes(of: ["load", "laod"]) {
      #expect(outcome.code == .usage && outcome.output.isEmpty)
      #expect(
        outcome.errors.contains("history.sqlite: error: the history has no scenario `laod`\n")
          && outcome.errors.contains("hint: did you mean `load`?"), "\(outcome.errors)")
    }
    for outcome in try outcomes(of: ["redis"]) {
      #expect(outcome.code == .usage && outcome.errors.contains("hint: it has `load`\n"), "\(outcome.errors)")
    }
  }

  @Test("An import before the first check makes a folder that git ignores, and no file in a folder that exists")
  func importedFolder() throws {
    let other = try project()
    _ = try other.check()
    let lines = try history(.export, in: other).output
    for (keys, folder) in [("", ".highwater"), ("history: kept/h.sqlite", "kept"), ("history: h.sqlite", ".")] {
      let project = try project(keys: keys)
      try project.shell("git init -q .")
      try project.write(lines, to: "runs.jsonl")
      #expect(try importing("runs.jsonl", into: project).errors == "added 1 run\n")
      #expect(project.exists("\(folder)/.gitignore") == (folder != "."))
      guard folder != "." else { continue }
      try project.shell("git add -A")
      #expect(try project.shell("git ls-files | paste -sd ' '") == "highwater.yml runs.jsonl")
      // git does not track the history, so it is used.
      #expect(try importing("runs.jsonl", into: project).errors == "added 0 runs, 1 already there\n")
    }
  }

  @Test("Nothing is written with `history: off`, `--history off`, or a comparison of two builds")
  func off() throws {
    let project = try project(keys: "history: off")
    _ = try project.check()
    #expect(!project.exists(database))
    let list = try history(.list(names: [], limit: 20), in: project)
    #expect(list.errors.contains("the history is switched off"))

    let other = try self.project()
    _ = try other.check { $0.options.history = "off" }
    _ = try other.check { $0.against = .command("A=1") }
    #expect(!other.exists(database))
  }

  @Test(
    "A history that cannot be written is reported and does not change the verdict",
    arguments: [("folder/x.sqlite", "folder"), ("there.sqlite", "there.sqlite/in-the-way")])
  func unwritable(history: String, blocked: String) throws {
    let project = try project(keys: "history: \(history)")
    // A file instead of a folder, or a folder instead of a file.
    try project.write("", to: blocked)
    let check = try project.check { $0.allowsMissingBaseline = true }
    #expect(check.code == .pass)
    #expect(check.errors.contains("warning: this run was not added to the history: "), "\(check.errors)")
    #expect(check.errors.contains("; queued in .highwater/pending-runs; the next check will add it"))
    try FileManager.default.removeItem(at: project.url(String(blocked.prefix { $0 != "/" })))
    let next = try project.check { $0.allowsMissingBaseline = true }
    #expect(next.errors.contains("added 1 pending run to the history"), "\(next.errors)")
  }

  @Test("A file that is not a history is renamed with a message, and the check continues")
  func noDatabase() throws {
    let project = try project()
    try project.write("not a database", to: database)
    let check = try project.check { $0.allowsMissingBaseline = true }
    #expect(check.code == .pass)
    #expect(check.errors.contains("warning: .highwater/history.sqlite was damaged or not a history: renamed to "))
    let names = try FileManager.default.contentsOfDirectory(atPath: project.url(".highwater").path)
    let renamed = try #require(names.first { $0.hasPrefix("history.sqlite.unusable-") })
    #expect(try project.read(".highwater/\(renamed)") == "not a database")
    #expect(try rows(in: project).count == 2)
  }

  @Test("A check reports creep over the runs of its branch")
  func creep() throws {
    let project = try project(scenarioKeys: "gate: {peak_rss: {tolerance: [50%, 1MiB]}}")
    try project.checkAndApprove()
    _ = try project.check()
    // Earlier runs in the same environment that rise slowly to about the current level.
    try project.write(
      String(try #require(history(.export, in: project).output.split(separator: "\n").last)), to: "last.json")
    var run = try project.object("last.json")
    var lines = ""
    for number in 1...40 {
      var info = try #require(run["run"] as? [String: Any])
      info["id"] = "old-\(number)"
      info["startedAt"] = "2025-01-01T00:00:\(number + 10).000Z"
      run["run"] = info
      var scenarios = try #require(run["scenarios"] as? [[String: Any]])
      var metrics = try #require(scenarios[0]["metrics"] as? [[String: Any]])
      for index in metrics.indices where metrics[index]["name"] as? String == "peak_rss" {
        metrics[index]["current"] = ["median": 2_000_000 + max(0, number - 10) * 200_000, "count": 5]
      }
      scenarios[0]["metrics"] = metrics
      run["scenarios"] = scenarios
      lines += String(decoding: try JSONSerialization.data(withJSONObject: run), as: UTF8.self) + "\n"
    }
    try project.write(lines, to: "old.jsonl")
    #expect(try importing("old.jsonl", into: project).code == .pass)
    let checks = try (0..<4).map { _ in try project.check() }
    let check = try #require(checks.last)
    #expect(check.code == .pass)
    #expect(check.text.contains("peak_rss has crept up by ") && check.text.contains("(2025-01-01"), "\(check.text)")
  }

  // MARK: The trend page

  /// The run data for the page's scripts.
  private func runs(in page: String) throws -> NSObject {
    let start = try #require(page.range(of: "id=\"data\">"))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let data = try JSONSerialization.jsonObject(with: Data(page[start.upperBound..<end.lowerBound].utf8))
    return try #require((data as? [String: Any])?["runs"] as? NSObject)
  }

  private func trend(
    in project: UseCaseProject,
    output: String? = nil,
    history: String? = nil,
    limit: Int = Trend.latestRuns
  ) throws -> UseCaseProject.Outcome {
    var trend = TrendReport()
    (trend.output, trend.options.history, trend.limit) = (output, history, limit)
    return try project.run { try trend.run(in: $0) }
  }

  @Test("Each check writes the trend page, and `trend` writes the same runs to the given path")
  func page() throws {
    let project = try project(
      keys: "links: {commit: \"https://git.example/c/{commit}\"}\nhistory: kept/h.sqlite")
    let variables = ["HIGHWATER_COMMIT": "c1", "HIGHWATER_SUBJECT": "Hold <b>eight</b> mebibytes"]
    _ = try project.check(variables: variables)
    #expect(try project.approve().code == .pass)
    let check = try project.check(variables: variables)
    #expect(check.code == .pass && check.output.contains("trend        .highwater/trend.html\n"), "\(check.output)")
    let page = try project.read(".highwater/trend.html")
    #expect(page.contains("load") && page.contains("Content-Security-Policy"))
    #expect(page.contains("Hold \\u003cb>eight\\u003c/b> mebibytes") && !page.contains("<b>eight"))

    let written = try trend(in: project, output: "pages/t.html")
    #expect(written.code == .pass && written.errors == "2 runs of 1 scenario: pages/t.html\n", "\(written.errors)")
    let printed = try trend(in: project, output: "-")
    #expect(printed.code == .pass && printed.output.hasPrefix("<!doctype html>"))
    // Only the creation time differs.
    #expect(try runs(in: printed.output) == runs(in: page))
    #expect(try trend(in: project, output: "-", limit: 1).output.contains("1\u{a0}older run not shown"))
    #expect(try runs(in: project.read("pages/t.html")) == runs(in: page))
  }

  @Test("A page that cannot be written is reported and does not change the verdict")
  func unwritablePage() throws {
    let project = try project()
    try project.write("", to: ".highwater/trend.html/in-the-way/file")
    let check = try project.check { $0.allowsMissingBaseline = true }
    #expect(check.code == .pass, "\(check.errors)")
    #expect(check.errors.contains("the trend page was not written: .highwater/trend.html"), "\(check.errors)")
    let trend = try trend(in: project)
    #expect(trend.code == .usage && trend.errors.contains("trend.html"), "\(trend.errors)")
  }

  @Test("Without a valid history no page is written, and an existing page stays")
  func noHistory() throws {
    let project = try project()
    let missing = try trend(in: project)
    #expect(missing.code == .usage && missing.errors.contains("no history"))
    let damaged = String(repeating: "no database ", count: 100)
    try project.write(damaged, to: "h.sqlite")
    try project.write("kept", to: "t.html")
    let outcome = try trend(in: project, output: "t.html", history: "h.sqlite")
    #expect(outcome.code == .usage && outcome.errors.contains("h.sqlite: error: is not a history"), "\(outcome.errors)")
    // No check renames a file that has neither the name nor the numbers of a history.
    #expect(!outcome.errors.contains("renames"))
    #expect(try project.read("t.html") == "kept")
    #expect(try project.read("h.sqlite") == damaged)
  }

  @Test("A pending run that the repository contains is not added")
  func planted() throws {
    let project = try project(keys: "history: h.sqlite")
    try project.write("", to: "h.sqlite/in-the-way")
    _ = try project.check()
    try FileManager.default.removeItem(at: project.url("h.sqlite"))
    try project.shell("git init -q . && git add -f .highwater/pending-runs")
    let planted = try project.check()
    #expect(
      planted.text.contains("1 pending run in .highwater/pending-runs not added to the history"), "\(planted.text)")
    #expect(try rows(in: project).count == 2)
    try project.shell("git rm -q --cached -r .highwater")
    #expect(try project.check().errors.contains("added 1 pending run to the history"))
    #expect(try rows(in: project).count == 4)
  }

  @Test(
    "A history that git tracks, or a file of SQLite beside it, is neither used nor extended",
    arguments: ["h.sqlite", "h.sqlite-journal"])
  func tracked(file: String) throws {
    let project = try project(keys: "history: h.sqlite")
    try project.checkAndApprove()
    if !project.exists(file) { try project.write("", to: file) }
    try project.shell("git init -q . && git add -f \(file)")
    let before = try project.read(file)
    let check = try project.check()
    #expect(check.code == .pass)
    #expect(
      check.text.contains("this run was not added to the history: \(file): is not used: git tracks it"), "\(check.text)"
    )
    #expect(try project.read(file) == before)
    let listed = try history(.list(names: [], limit: 20), in: project)
    #expect(listed.code == .usage && listed.errors.contains("git tracks it"), "\(listed.errors)")
    try project.shell("git rm -q --cached \(file)")
    #expect(try project.check().errors.contains("added 1 pending run to the history"))
  }

  @Test("A result that git tracks is neither approved nor compared with for what is new")
  func trackedResult() throws {
    let project = try project(keys: "history: off")
    _ = try project.check()
    try project.shell("git init -q . && git add -f .highwater/result.json")
    let approval = try project.approve()
    #expect(approval.code == .usage && approval.text.contains("git tracks it"), "\(approval.text)")
    let artifacts = ArtifactsFolder(path: "\(project.path)/.highwater")
    #expect(PreviousVerdicts(of: artifacts)[ScenarioName("load")].isEmpty)
    try project.shell("git rm -q --cached .highwater/result.json")
    #expect(PreviousVerdicts(of: artifacts)[ScenarioName("load")].count == 1)
    #expect(try project.approve().code == .pass)
  }
}
