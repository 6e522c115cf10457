/// Through which callers the change of a function came.
struct CallerSearch {
  private let calls: [ProfileComparison.Call]
  private let evidence: MemoryEvidenceKind

  /// Calls of functions, and what of the change is theirs.
  private typealias Places = [Int: Int64]

  init(_ comparison: ProfileComparison, _ evidence: MemoryEvidenceKind) {
    (calls, self.evidence) = (comparison.calls, evidence)
  }

  /// The callers that carry most of the change, the nearest first, with the line through which most of it came; where they
  /// fork, the nearest one that the branches have in common is next.
  func callers(of function: FunctionName, atMost count: Int) -> [(function: FunctionName, line: Int?)] {
    var places = outermostCalls(of: function)
    let total = places.values.reduce(0, +)
    var chain: [(function: FunctionName, line: Int?)] = []
    while total != 0, chain.count < count,
      let next = next(above: places, without: chain.map(\.function) + [function], total)
    {
      chain.append((next.function, next.line))
      places = next.places
    }
    return chain
  }

  /// The calls of a function that it did not make itself.
  private func outermostCalls(of function: FunctionName) -> Places {
    var isWithin = [Bool](repeating: false, count: calls.count)
    let outermost = calls.indices.filter { index in
      let isInner = calls[index].parent.map { isWithin[$0] } ?? false
      isWithin[index] = isInner || calls[index].function == function
      return isWithin[index] && !isInner
    }
    let changes = outermost.map { ($0, calls[$0].change(evidence)) }
    return Dictionary(uniqueKeysWithValues: changes)
  }

  /// A caller, the line of it through which most came, and its calls.
  private typealias Caller = (function: FunctionName, line: Int?, places: Places)

  private func next(above places: Places, without named: [FunctionName], _ total: Int64) -> Caller? {
    common(above: places, without: named, total, atMost: 1) ?? common(above: places, without: named, total)
  }

  /// The nearest caller through which most of the change came, among so many callers of each place.
  private func common(
    above places: Places, without named: [FunctionName], _ total: Int64, atMost count: Int = .max
  ) -> Caller? {
    var branches: [FunctionName: Branch] = [:]
    for (place, change) in places {
      var seen: Set<FunctionName> = []
      for (distance, caller) in callers(of: place, without: named).prefix(count).enumerated() {
        let function = calls[caller.call].function
        guard seen.insert(function).inserted else { continue }
        branches[function, default: Branch()].add(change, of: caller, at: distance)
      }
    }
    let found = branches.map { (function: $0.key, branch: $0.value) }
      .filter { Double($0.branch.change) / Double(total) >= ProfileComparison.leastShare }
      .min { Self.order($0.branch, $0.function) < Self.order($1.branch, $1.function) }
    return found.map { ($0.function, $0.branch.line, $0.branch.places) }
  }

  /// What came through one function.
  private struct Branch {
    private(set) var places: Places = [:]
    private(set) var change: Int64 = 0
    private(set) var distance: Int64 = 0
    private(set) var line: Int?
    private var largest: UInt64 = 0

    mutating func add(_ change: Int64, of caller: (call: Int, line: Int?), at distance: Int) {
      places[caller.call, default: 0] += change
      self.change += change
      self.distance += Int64(distance) * change
      if change.magnitude > largest { (largest, line) = (change.magnitude, caller.line) }
    }
  }

  /// By mean distance, then by what is left out.
  private static func order(_ branch: Branch, _ function: FunctionName) -> (Double, Double, FunctionName) {
    (Double(branch.distance) / Double(branch.change), -Double(branch.change.magnitude), function)
  }

  /// The callers that may be named and have other names, the nearest first, with their lines; of a script's function
  /// scripts'.
  private func callers(of call: Int, without named: [FunctionName]) -> some Sequence<(call: Int, line: Int?)> {
    let isOfScript = named.last?.isScript == true
    let way = sequence(first: call) { calls[$0].parent }
    let callers = zip(way, way.dropFirst()).lazy.map { below, at in (call: at, line: calls[below].callerLine) }
    return callers.filter { at in
      let caller = calls[at.call]
      return caller.role.isNamed && !caller.function.name.isEmpty && (caller.function.isScript || !isOfScript)
        && !named.contains(where: caller.function.reads(like:))
    }
  }
}
