import GateCore

/// The parts of a process's memory in charts: they do not overlap, and add up to its resident memory.
enum CompositionPart: String, CaseIterable {
  case heap
  case anonymous = "other anonymous"
  case stack, file, shared

  var ink: SVGChart.Ink {
    switch self {
    case .heap: .blue
    case .anonymous: .orange
    case .stack: .sky
    case .file: .green
    case .shared: .purple
    }
  }

  /// Heap and stack are mostly anonymous; copied pages of files that would count twice are subtracted from them.
  func amount(in composition: Composition) -> Bytes {
    let heap = min(composition.heap ?? .zero, composition.anonymous)
    let stack = min(composition.stack ?? .zero, composition.anonymous - heap)
    return switch self {
    case .heap: heap
    case .anonymous: composition.anonymous - heap - stack
    case .stack: stack
    case .file: composition.file
    case .shared: composition.shared
    }
  }
}
