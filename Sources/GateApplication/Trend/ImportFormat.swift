import ArgumentParser
import GateCore

/// The formats that `history import` reads.
///
/// A new one is a file in `Files/Documents` that reads its runs, a case and a row here.
enum ImportFormat: String, Sendable, CaseIterable, ExpressibleByArgument {
  case highwater, asv
  case benchmarkAction = "github-action-benchmark"
  case googleBenchmark = "google-benchmark"

  struct Row: Sendable {
    /// What is read, in the help of `--format`.
    let purpose: String
    /// Which files of a given folder, and of the folders in it, are read.
    let isResult: @Sendable (String) -> Bool
    let runs: @Sendable ([UInt8], String) throws(FileError) -> [RunSummary]
  }

  /// As in `The format of the files: asv (peak memory …)`.
  static let help =
    "The format: "
    + allCases.compactMap { format in format.row.map { "\(format.rawValue) (\($0.purpose))" } }.joined(separator: "; ")

  /// nil for the own formats, which are read line by line.
  var row: Row? {
    switch self {
    case .highwater: nil
    case .asv:
      Row(
        purpose: "peak memory in the folder `results` of asv", isResult: AsvResults.isResult,
        runs: AsvResults.runs(_:path:))
    case .benchmarkAction:
      Row(
        purpose: "`data.js` of github-action-benchmark, entries in bytes or multiples of them",
        isResult: BenchmarkActionData.isResult, runs: BenchmarkActionData.runs(_:path:))
    case .googleBenchmark:
      Row(
        purpose: "`max_bytes_used` in the JSON of Google Benchmark", isResult: GoogleBenchmarkResults.isResult,
        runs: GoogleBenchmarkResults.runs(_:path:))
    }
  }
}
