import ArgumentParser
import GateCore

/// How `history import` reads the results of a tool.
///
/// A new one is a file in `Files/Documents` that reads its runs, a case of ``ForeignTool`` and a row here.
struct ImportFormat: Sendable {
  /// What is read, in the help of `--format`.
  let purpose: String
  /// Which files of a given folder, and of the folders in it, are read.
  let isResult: @Sendable (String) -> Bool
  let runs: @Sendable ([UInt8], String) throws(FileError) -> [RunSummary]

  init(_ tool: ForeignTool) {
    switch tool {
    case .asv:
      self.init(
        purpose: "peak memory in the folder `results` of asv", isResult: AsvResults.isResult,
        runs: AsvResults.runs(_:path:))
    case .benchmarkAction:
      self.init(
        purpose: "`data.js` of github-action-benchmark, entries in bytes or multiples of them",
        isResult: BenchmarkActionData.isResult, runs: BenchmarkActionData.runs(_:path:))
    case .googleBenchmark:
      self.init(
        purpose: "`max_bytes_used` in the JSON of Google Benchmark", isResult: GoogleBenchmarkResults.isResult,
        runs: GoogleBenchmarkResults.runs(_:path:))
    }
  }

  private init(
    purpose: String,
    isResult: @escaping @Sendable (String) -> Bool,
    runs: @escaping @Sendable ([UInt8], String) throws(FileError) -> [RunSummary]
  ) {
    (self.purpose, self.isResult, self.runs) = (purpose, isResult, runs)
  }
}

extension ForeignTool: ExpressibleByArgument {
  /// As in `The tool that wrote the files: asv (peak memory …)`.
  static let help =
    "The tool that wrote the files: "
    + allCases.map { "\($0.rawValue) (\(ImportFormat($0).purpose))" }.joined(separator: "; ")
}
