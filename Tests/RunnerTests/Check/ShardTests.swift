import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Checks that are split over several jobs")
struct ShardTests {
  /// A project with scenarios a to e and approved baselines; the targets hold 8 MiB.
  private func project(keys: String = "history: off") throws -> UseCaseProject {
    let scenarios = ["a", "b", "c", "d", "e"].map {
      "  - {name: \($0), target: {command: [server]}, repetitions: 1, warmup: 0, explain: off}\n"
    }
    let project = try UseCaseProject("version: 1\n\(keys)\nscenarios:\n\(scenarios.joined())", holding: 8)
    try project.checkAndApprove()
    return project
  }

  private func merge(
    _ files: String...,
    in project: UseCaseProject,
    variables: [String: String] = [:],
    _ configure: (inout Merge) -> Void = { _ in }
  ) throws -> UseCaseProject.Outcome {
    var merge = Merge(files: files)
    configure(&merge)
    return try project.run(variables: variables) { try merge.run(in: $0) }
  }

  /// Runs shards with these indexes into `1.json` and so on.
  private func runShards(_ indexes: Int..., of count: Int, in project: UseCaseProject) throws {
    for index in indexes {
      let check = try project.check {
        ($0.shard, $0.options.json) = (.part(index: index, of: count), "\(index).json")
      }
      try #require(check.code == .pass, "\(check.text)")
    }
  }

  private func names(in file: String, of project: UseCaseProject) throws -> [String] {
    let scenarios = try #require(project.object(file)["scenarios"] as? [[String: Any]])
    return scenarios.compactMap { $0["name"] as? String }
  }

  @Test("A shard runs every n-th scenario, and the merged result is that of one job")
  func split() throws {
    let project = try project()
    try runShards(1, 2, of: 2, in: project)
    #expect(try names(in: "1.json", of: project) == ["a", "c", "e"])
    #expect(try names(in: "2.json", of: project) == ["b", "d"])
    let whole = try project.check { $0.options.json = "whole.json" }
    let merged = try merge("2.json", "1.json", in: project) { $0.options.json = "merged.json" }
    #expect(merged.code == .pass && merged.output == whole.output, "\(merged.text)")
    for file in ["whole.json", "merged.json"] {
      try project.edit(file) { result in
        result["run"] = nil
        result["scenarios"] = (result["scenarios"] as? [[String: Any]])?.map { $0.filter { $0.key != "times" } }
      }
    }
    #expect(try project.read("merged.json") == project.read("whole.json"))
    #expect(try names(in: ".highwater/result.json", of: project) == ["a", "b", "c", "d", "e"])
  }

  @Test("A merged regression exits with 1, and can be approved")
  func regression() throws {
    let project = try project()
    try runShards(1, of: 2, in: project)
    project.measurer.hold(12)
    let shard = try project.check { ($0.shard, $0.options.json) = (.part(index: 2, of: 2), "2.json") }
    #expect(shard.code == .regression && shard.text.contains("2 of 2 scenarios regressed (shard 2 of 2)"))
    let merged = try merge("1.json", "2.json", in: project) { $0.options.json = "merged.json" }
    #expect(merged.code == .regression && merged.text.contains("2 of 5 scenarios regressed"), "\(merged.text)")
    #expect(try project.approve { $0.from = "merged.json" }.code == .pass)
    #expect(try merge("1.json", "2.json", in: project).code == .regression, "a later approval does not count")
  }

  @Test("A shard whose values have risen, but not its verdict, has the verdict of its values")
  func otherValues() throws {
    let project = try project()
    try runShards(1, 2, of: 2, in: project)
    #expect(try merge("1.json", "2.json", in: project).code == .pass)
    try project.edit("2.json") { result in
      let scenarios = try #require(result["scenarios"] as? [[String: Any]])
      result["scenarios"] = try scenarios.map { scenario in
        var scenario = scenario
        let repetitions = try #require(scenario["repetitions"] as? [[String: Any]])
        scenario["repetitions"] = repetitions.map { repetition in
          let metrics = repetition["metrics"] as? [String: Any] ?? [:]
          return repetition.merging(["metrics": metrics.merging(["peak_rss": 20 << 20]) { $1 }]) { $1 }
        }
        return scenario
      }
    }
    let merged = try merge("1.json", "2.json", in: project)
    #expect(merged.text.contains("2 of 5 scenarios regressed"), "\(merged.text)")
    #expect(merged.code == .regression)
  }

  @Test("A shard without scenarios passes and says so; a missing one makes the merged result inconclusive")
  func emptyAndMissing() throws {
    let project = try project()
    let empty = try project.check { ($0.shard, $0.options.json) = (.part(index: 6, of: 6), "6.json") }
    #expect(empty.code == .pass && empty.text.contains("shard 6 of 6 has no scenarios"), "\(empty.text)")
    try runShards(1, 2, 3, 4, 5, of: 6, in: project)
    #expect(try merge("6.json", "5.json", "4.json", "3.json", "2.json", "1.json", in: project).code == .pass)
    let missing = try merge("6.json", "5.json", "4.json", "2.json", "1.json", in: project)
    #expect(missing.code == .inconclusive)
    #expect(missing.text.contains("not measured: the result of shard 3 of 6 is missing"), "\(missing.text)")
    #expect(!missing.output.contains("check --verbose"), "details would not help")
  }

  @Test("The history, webhooks and CI reports are left to the merge")
  func storesNothing() throws {
    let keys = "webhooks: [{url: \"${HOOK}\", on: always}]"
    let project = try project(keys: "history: h.sqlite\n\(keys)")
    let before = try project.run { try HistoryUse(.export, SharedOptions()).run(in: $0) }.output
    let variables = ["CI": "1", "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "\(project.path)/summary.md"]
    for index in [1, 2] {
      let shard = try project.check(variables: variables) {
        ($0.shard, $0.options.json) = (.part(index: index, of: 2), "\(index).json")
      }
      #expect(shard.code == .pass, "\(shard.text)")
    }
    #expect(!project.exists("summary.md"))
    #expect(try project.run { try HistoryUse(.export, SharedOptions()).run(in: $0) }.output == before)
    #expect(try merge("1.json", "2.json", in: project, variables: variables).code == .usage, "HOOK is not set")
    #expect(try merge("1.json", "2.json", in: project, variables: variables) { $0.notifies = false }.code == .pass)
    #expect(project.exists("summary.md"))
    let after = try project.run { try HistoryUse(.export, SharedOptions()).run(in: $0) }.output
    #expect(after.split(separator: "\n").count == before.split(separator: "\n").count + 1)
  }

  @Test("Files that do not belong together are named")
  func unsuitable() throws {
    let project = try project()
    try runShards(1, 2, of: 2, in: project)
    let double = try merge("1.json", "2.json", "1.json", in: project)
    #expect(double.code == .usage && double.output.isEmpty)
    #expect(double.errors.contains("1.json: error: shard 1 of 2 occurs twice: 1.json, 1.json\n  hint: "))
    try project.edit("2.json") { $0["tool"] = ["name": "highwater", "version": "9.9"] }
    let other = try merge("1.json", "2.json", in: project)
    #expect(other.code == .usage)
    #expect(
      other.errors.hasPrefix(
        "2.json: error: it is not of the same run as 1.json: version of highwater 9.9, not \(Tool.version)\n  hint: "))
    try project.edit("2.json") { $0["schema"] = "highwater.result/7" }
    #expect(try merge("1.json", "2.json", in: project).errors.contains("2.json: error: has the schema"))
    #expect(try merge(".highwater/result.json", in: project).code == .inconclusive, "the second shard is alone")
    #expect(try merge("no.json", in: project).errors.contains("no.json: error: no such file"))
  }

  @Test("Without a project file only reports are written")
  func withoutProject() throws {
    let project = try project()
    try runShards(1, 2, of: 2, in: project)
    try FileManager.default.removeItem(at: project.url("highwater.yml"))
    try FileManager.default.removeItem(at: project.url(".highwater"))
    let merged = try merge("1.json", "2.json", in: project) { $0.options.reports = [ReportFile(.junit, path: "j.xml")] }
    #expect(merged.code == .pass && merged.text.contains("5 scenarios pass"), "\(merged.text)")
    #expect(project.exists("j.xml") && !project.exists(".highwater"))
  }

  @Test("The CI system's variables give the shard; a job that none of them numbers is an error")
  func auto() throws {
    let project = try project()
    let gitLab = ["GITLAB_CI": "true", "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "2"]
    #expect(try project.check(variables: gitLab) { $0.shard = .auto }.text.contains("2 scenarios pass (shard 2 of 2)"))
    let single = ["CIRCLECI": "true", "CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "1"]
    #expect(try project.check(variables: single) { $0.shard = .auto }.text.contains("5 scenarios pass (shard 1 of 1)"))
    let none = try project.check { $0.shard = .auto }
    #expect(none.code == .usage && none.errors.contains("--shard auto") && none.errors.contains("hint: "))
  }
}
