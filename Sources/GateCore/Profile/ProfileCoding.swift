extension FunctionName: SingleValueCodable {
  package var coded: String { description }

  /// Parses a ``description``.
  package init(coded text: String) throws {
    guard let end = text.firstIndex(where: { $0 == "!" || $0 == ":" }) else {
      let problem = "has the name `\(text.prefix(80))`, expected MODULE!FUNCTION or SCRIPT:FUNCTION"
      throw UnitError(problem: problem, hint: "")
    }
    let name = text[text.index(after: end)...]
    self.init(module: String(text[..<end]), name: name == "?" ? "" : String(name), isScript: text[end] == ":")
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
