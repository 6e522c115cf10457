import Foundation
import Testing

/// A line of `--folded`.
struct FoldedStack {
  let frames: [String]
  let bytes: Int

  static func stacks(in text: String) throws -> [FoldedStack] {
    try text.split(separator: "\n").map { line in
      let end = try #require(line.lastIndex(of: " "))
      return FoldedStack(
        frames: line[..<end].split(separator: ";").map(String.init), bytes: Int(line[end...].dropFirst()) ?? 0)
    }
  }
}

/// What one repetition may show of so many bytes in small blocks: 5 standard errors of the sampling that the report tells of.
///
/// So the test is as strict as the number of samples allows, which is smaller on a busy machine.
func sampled(_ bytes: ClosedRange<Int>, _ report: String) throws -> ClosedRange<Int> {
  let words = report.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  let interval = try #require(words.firstMatch(of: #/one sample for each ([\d.]+) (B|KiB|MiB) on average/#))
  let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20]
  let mean = try #require(Double(interval.1)) * Double(units[String(interval.2), default: 1])
  let error = Int(5 * (Double(bytes.upperBound) * mean).squareRoot())
  return max(0, bytes.lowerBound - error)...bytes.upperBound + error
}

extension [FoldedStack] {
  /// What a function and those that it called hold, as `live` or `touched`.
  func bytes(of function: String, as kind: String) -> Int {
    filter { $0.frames[0] == kind && $0.frames.contains(function) }.reduce(0) { $0 + $1.bytes }
  }
}
