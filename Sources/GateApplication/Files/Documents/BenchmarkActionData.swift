import FoundationEssentials
import GateCore

/// The history of github-action-benchmark: `data.js`, of which benchmarks with a unit of memory are read.
enum BenchmarkActionData {
  private static let start = Array("window.BENCHMARK_DATA = ".utf8)

  static func isResult(_ name: String) -> Bool { name == "data.js" }

  static func runs(_ bytes: [UInt8], path: String) throws(FileError) -> [RunSummary] {
    let hint = "name the file `data.js` of github-action-benchmark"
    let text = bytes.starts(with: start) ? Array(bytes.dropFirst(start.count)) : bytes
    let end = text.lastIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? text.count
    let document = try JSON.decodeForeign(Array(text[..<end]), path: path, hint: hint)
    guard let suites = document["entries"]?.object else {
      throw FileError(code: .wrongSchema, path: path, problem: "is not data of github-action-benchmark", hint: hint)
    }
    return suites.sorted { $0.key < $1.key }.flatMap { suite, entries in
      (entries.list ?? []).compactMap { run($0, of: suite) }
    }
  }

  private static func run(_ entry: JSONValue, of suite: String) -> RunSummary? {
    let peaks = (entry["benches"]?.list ?? []).compactMap { bench -> (name: String, bytes: Double)? in
      guard let name = bench["name"]?.text, let value = bench["value"]?.number,
        let factor = bench["unit"]?.text.flatMap({ units[$0] })
      else { return nil }
      return (name, value * factor)
    }
    guard !peaks.isEmpty, let date = entry["date"]?.number else { return nil }
    let subject = entry["commit"]?["message"]?.text?.split(separator: "\n").first.map(String.init)
    return ForeignRun(
      tool: .benchmarkAction, environment: [suite], startedAt: Date(timeIntervalSince1970: date / 1000),
      commit: entry["commit"]?["id"]?.text, subject: subject, peaks: peaks
    ).summary
  }

  /// The factors of units of memory; `B/op` of Go is not a peak.
  private static let units: [String: Double] = [
    "B": 1, "bytes": 1, "byte": 1, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1_048_576,
    "GiB": 1_073_741_824,
  ]
}
