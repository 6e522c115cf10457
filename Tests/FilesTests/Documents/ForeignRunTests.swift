import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Runs of other tools")
struct ForeignRunTests {
  private func peaks(_ run: RunSummary?) -> [String: Double] {
    let scenarios = run?.scenarios ?? []
    return Dictionary(uniqueKeysWithValues: scenarios.map { ($0.name.text, $0.metrics[0].current?.median ?? 0) })
  }

  private func asv(_ results: String, columns: String = #"["result", "params", "version"]"#) throws -> [RunSummary] {
    let text = """
      {"commit_hash": "0123456789abcdef0123456789abcdef01234567", "env_name": "virtualenv-py3.8-numpy",
       "date": 1612345678000, "params": {"arch": "x86_64", "machine": "bench box", "num_cpu": "8", "os": "Linux 5.4"},
       "result_columns": \(columns), "results": \(results), "version": 2}
      """
    return try AsvResults.runs(Array(text.utf8), path: "results/box/01234567.json")
  }

  @Test("Results of asv are a run with a scenario for each combination of parameters")
  func asvVersion2() throws {
    let run = try #require(
      try asv(
        """
        {"io.Read.peakmem_read": [[1000, NaN, 3000, 4000], [["10", "20"], ["'csv'", "'NaN'"]], "v1"],
         "io.Read.time_read": [[0.1], [], "v1"], "io.peakmem_one": [[5000], [], "v1"], "io.peakmem_none": [null, [], "v1"]}
        """
      ).first)
    #expect(
      peaks(run) == [
        "io.Read.peakmem_read[10,'csv']": 1000, "io.Read.peakmem_read[20,'csv']": 3000,
        "io.Read.peakmem_read[20,'NaN']": 4000, "io.peakmem_one": 5000,
      ])
    #expect(run.run.commit == "0123456789abcdef0123456789abcdef01234567")
    #expect(run.run.startedAt == Date(timeIntervalSince1970: 1_612_345_678))
    #expect(run.environment.name == "asv-bench-box-virtualenv-py3.8-numpy" && run.environment.fingerprint.cpus == 8)
    // What is stored can be exported and read again.
    #expect(try RunLine.decode(RunLine.encode(run), path: "run.jsonl", line: 1) == run)
  }

  @Test("The first version of asv's results is read as well, and a run has the same ID each time")
  func asvVersion1() throws {
    let results = #"{"a.peakmem_x": 7000, "a.peakmem_y": {"result": [1, 2], "params": [["1", "2"]]}, "a.mem_z": 3}"#
    let first = try asv(results)
    #expect(peaks(first.first) == ["a.peakmem_x": 7000, "a.peakmem_y[1]": 1, "a.peakmem_y[2]": 2])
    #expect(try asv(results).first?.run.id == first.first?.run.id)
    #expect(first.first?.run.id.hasPrefix("0177674a-98b0-7") == true)
  }

  @Test("Results without peaks are left out, and other documents are rejected")
  func otherDocuments() throws {
    #expect(try asv(#"{"a.time_x": 1}"#).isEmpty)
    #expect(throws: FileError.self) { try AsvResults.runs(Array(#"{"results": {}}"#.utf8), path: "x.json") }
    #expect(throws: FileError.self) { try AsvResults.runs(Array("[1]".utf8), path: "x.json") }
    #expect(throws: FileError.self) { try BenchmarkActionData.runs(Array("{}".utf8), path: "data.js") }
    #expect(!AsvResults.isResult("machine.json") && AsvResults.isResult("01234567-py3.8.json"))
  }

  @Test("Of github-action-benchmark the entries with a unit of memory are read")
  func benchmarkAction() throws {
    let text = """
      window.BENCHMARK_DATA = {"lastUpdate": 1, "repoUrl": "https://git.example/x", "entries": {"Memory": [
        {"commit": {"id": "4f2a91c0d6e8b7a1", "message": "Add cache\\n\\nLong text"}, "date": 1612345678000,
         "tool": "customSmallerIsBetter",
         "benches": [{"name": "load", "value": 1.5, "unit": "MiB"}, {"name": "run", "value": 3, "unit": "ns/iter"}]},
        {"commit": {"id": "5f2a91c0d6e8b7a1"}, "date": 1612345679000, "tool": "go", "benches": []}
      ]}}

      """
    let runs = try BenchmarkActionData.runs(Array(text.utf8), path: "data.js")
    #expect(runs.count == 1 && peaks(runs.first) == ["load": 1_572_864])
    #expect(runs.first?.run.subject == "Add cache" && runs.first?.environment.name == "github-action-benchmark-Memory")
  }

  @Test("Of Google Benchmark the highest memory of each benchmark is read, with the commit of its context")
  func googleBenchmark() throws {
    let text = """
      {"context": {"date": "2026-11-27T10:03:10+00:00", "host_name": "bench", "executable": "./build/gb", "num_cpus": 2,
        "commit": "4f2a91c0d6e8b7a1"},
       "benchmarks": [{"name": "BM_Load/8", "max_bytes_used": 42000}, {"name": "BM_Run", "real_time": 4.3}]}
      """
    let run = try #require(try GoogleBenchmarkResults.runs(Array(text.utf8), path: "gb.json").first)
    #expect(peaks(run) == ["BM_Load/8": 42000] && run.environment.name == "google-benchmark-bench-gb")
    #expect(run.run.commit == "4f2a91c0d6e8b7a1" && run.environment.fingerprint.cpus == 2)
    #expect(run.run.startedAt == Date(timeIntervalSince1970: 1_795_773_790))
    let other = #"{"context": {"date": "2026-11-27T10:03:10+00:00"}, "benchmarks": []}"#
    #expect(try GoogleBenchmarkResults.runs(Array(other.utf8), path: "gb.json").isEmpty)
    #expect(throws: FileError.self) { try GoogleBenchmarkResults.runs(Array("{}".utf8), path: "gb.json") }
  }
}
