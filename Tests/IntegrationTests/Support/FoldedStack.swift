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

extension [FoldedStack] {
  /// What a function and those that it called hold, as `live` or `touched`.
  func bytes(of function: String, as kind: String) -> Int {
    filter { $0.frames[0] == kind && $0.frames.contains(function) }.reduce(0) { $0 + $1.bytes }
  }
}
