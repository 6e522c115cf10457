import GateCore
import Testing

@testable import GateApplication

@Suite("Texts of results that cannot be merged")
struct MergeErrorTextTests {
  private static let cpus = Fingerprint.Difference(field: .cpus, baseline: "2", current: "64")

  @Test(
    "Each names the files and what to do",
    arguments: [
      (
        .notOfShard(file: "b.json"),
        """
        b.json: error: not a shard result
          hint: merge the results of `highwater check --shard I/N`
        """
      ),
      (
        .different(.commit, file: "b.json", value: "", other: "a.json", otherValue: "57dc3d9"),
        """
        b.json: error: it is not of the same run as a.json: commit none, not 57dc3d9
          hint: merge the results of one build
        """
      ),
      (
        .different(.scenarios, file: "b.json", value: "one, two", other: "a.json", otherValue: "one"),
        """
        b.json: error: it is not of the same run as a.json: the selected scenarios differ (one, two; one)
          hint: run all shards with the same project file and the same names of scenarios
        """
      ),
      (
        .differentMachines(file: "b.json", other: "a.json", differences: [cpus]),
        """
        b.json: error: it was not measured on the same kind of machine as a.json (a.json → b.json): cpus 2 → 64
          hint: run all shards on machines of one kind, or ignore the difference with `environment: {ignore: …}`
        """
      ),
      (
        .sameScenario(ScenarioName("load"), files: ["a.json", "b.json", "c.json"]),
        """
        c.json: error: the scenario `load` occurs 3 times: a.json, b.json, c.json
          hint: give each shard's result once
        """
      ),
    ] as [(MergeError.Problem, String)]
  )
  func texts(problem: MergeError.Problem, text: String) {
    let diagnostics = MergeError(problems: [problem]).diagnostics
    #expect(diagnostics.map(\.description) == [text])
  }
}
