import Foundation
import Testing

/// Runs the built program; merging is tested with scripted recordings elsewhere.
@Suite("Jobs that share a check", .endsHangs)
struct ShardTests {
  @Test("Shards, one of them empty, are merged in any order into what a single job gives")
  func merged() throws {
    let names = ["one", "two", "three"]
    // On a busy machine `true` may last long enough for a steady state, which later checks would miss.
    let project = try TemporaryProject(
      "version: 1\ndefaults: {repetitions: 1, warmup: 0, gate: {peak_rss: [3%, 512KiB]}}\nscenarios:\n"
        + names.map { "  - {name: \($0), target: {command: [\"true\"]}}\n" }.joined())
    #expect(try Highwater.run("check", in: project).code == 5)
    #expect(try Highwater.run("approve", in: project).code == 0)
    for shard in 1...4 {
      let variables = ["GITLAB_CI": "true", "CI_NODE_INDEX": "\(shard)", "CI_NODE_TOTAL": "4"]
      let check = try Highwater.run(
        "check", "--shard", "auto", "--json", "\(shard).json", in: project, variables: variables)
      #expect(check.code == 0, "\(check.output)\(check.errors)")
      if shard == 4 { #expect(check.output.contains("shard 4 of 4 has no scenarios\nhighwater: pass\n")) }
    }
    let merged = try Highwater.run("merge", "3.json", "4.json", "1.json", "2.json", in: project)
    #expect(merged.code == 0 && merged.text.contains("3 scenarios pass"), "\(merged.text)")
    #expect((try project.result()["scenarios"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == names)
    let missing = try Highwater.run("merge", "4.json", "1.json", "2.json", in: project)
    #expect(missing.code == 4 && missing.text.contains("the result of shard 3 of 4 is missing"), "\(missing.text)")
  }
}
