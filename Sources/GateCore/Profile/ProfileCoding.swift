extension FunctionName: SingleValueCodable {
  package var coded: String { description }

  /// Parses a ``description``.
  package init(coded text: String) throws {
    // As a character, a mark and a combining one after it would be another one.
    guard let end = text.unicodeScalars.firstIndex(where: { $0 == "!" || $0 == ":" }) else {
      let problem = "has the name `\(text.prefix(80))`, expected MODULE!FUNCTION or SCRIPT:FUNCTION"
      throw UnitError(problem: problem, hint: "")
    }
    let name = String(text.unicodeScalars[end...].dropFirst())
    self.init(
      module: String(text.unicodeScalars[..<end]), name: name == "?" ? "" : name,
      isScript: text.unicodeScalars[end] == ":")
  }
}

extension MemoryPart: SingleValueCodable {
  /// As in `live` or `collected-heap-java`.
  package var coded: String {
    switch self {
    case .live: "live"
    case .touched: "touched"
    case .collectedHeap(let runtime): "collected-heap-\(runtime.rawValue)"
    case .heap: "heap"
    case .heapOverhead: "heap-overhead"
    case .unattributed(let cause): "unattributed-\(cause.rawValue)"
    }
  }

  package init(coded: String) throws {
    guard let part = Self.all.first(where: { $0.coded == coded }) else {
      throw UnitError(problem: "is `\(coded.prefix(40))`, which is not a part of a process's memory", hint: "")
    }
    self = part
  }

  private static let all: [MemoryPart] =
    [.live, .touched, .heap, .heapOverhead] + CollectedRuntime.allCases.map { .collectedHeap($0) }
    + MemoryProfile.Cause.allCases.map { .unattributed($0) }
}
