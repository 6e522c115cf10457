import FoundationEssentials
import GateCore

/// Result files of Google Benchmark (`--benchmark_out=FILE.json`) of a program with a memory manager.
enum GoogleBenchmarkResults {
  static func isResult(_ name: String) -> Bool { name.hasSuffix(".json") }

  /// The peaks of its benchmarks; empty if it has none.
  static func runs(_ bytes: [UInt8], path: String) throws(FileError) -> [RunSummary] {
    let hint = "name a file that `--benchmark_out=FILE --benchmark_out_format=json` wrote"
    let document = try JSON.decodeForeign(bytes, path: path, hint: hint)
    guard let context = document["context"], let benchmarks = document["benchmarks"]?.list,
      let date = context["date"]?.text.flatMap({ try? Date($0, strategy: .iso8601) })
    else { throw FileError(code: .wrongSchema, path: path, problem: "is not a result of Google Benchmark", hint: hint) }
    let peaks = benchmarks.compactMap { benchmark -> (name: String, bytes: Double)? in
      guard let name = benchmark["name"]?.text, let bytes = benchmark["max_bytes_used"]?.number else { return nil }
      return (name, bytes)
    }
    guard !peaks.isEmpty else { return [] }
    let program = String(TrackedFiles.name(of: context["executable"]?.text ?? ""))
    let run = ForeignRun(
      tool: .googleBenchmark, environment: [context["host_name"]?.text ?? "", program], startedAt: date,
      commit: commit(in: context), cpus: Int(context["num_cpus"]?.number ?? 1), peaks: peaks)
    return [run.summary]
  }

  /// The format has no commit: programs add one by `AddCustomContext` or `--benchmark_context=commit=…`.
  private static func commit(in context: JSONValue) -> String? {
    let names = ["commit", "git_commit", "git_hash", "git_sha", "revision"]
    return names.lazy.compactMap { context[$0]?.text }.first(where: CommitID.isHash)
  }
}
