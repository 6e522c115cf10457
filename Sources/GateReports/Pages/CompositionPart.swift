import GateCore

/// What a process's memory is made of, as pictures show it: parts that do not overlap, and that sum up to all that is
/// resident.
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

  /// Heap and stack are anonymous mostly; what a copied page of a file counts twice is taken from them.
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
