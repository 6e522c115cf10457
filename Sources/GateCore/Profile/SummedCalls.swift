/// The call trees of several repetitions as one.
///
/// Allocators are left out, and functions without names that call each other in one module are one.
struct SummedCalls {
  /// What one repetition holds.
  struct Repetition {
    /// Without ``collected``.
    var total = CallTree.Weight.zero
    /// The pages of a collected heap, without its live objects if they have call stacks.
    var collected: (runtime: CollectedRuntime, bytes: Int64)?
  }

  private struct Place: Hashable {
    let parent: Int?
    let function: Int
  }

  private(set) var functions: [ProfileSummary.Function]
  private(set) var calls: [ProfileSummary.Call] = []
  private(set) var repetitions: [Repetition]
  /// The modules with debug information.
  let sourced: Set<String>

  private let collected: CollectedRuntime?
  private let intervals: [Bytes]
  private var places: [Place] = []
  private var indexes: [Place: Int] = [:]

  /// `intervals` has the sampling interval of each tree, and `objects` how many of its live bytes are in a collected heap.
  init(_ trees: [CallTree], intervals: [Bytes], objects: [Int64]) {
    self.intervals = intervals
    let (names, indexes) = Self.names(of: trees)
    let roles = RoleTable(names)
    collected = roles.collected
    functions = names.map { ProfileSummary.Function(name: $0, role: roles.role(of: $0)) }
    repetitions = trees.map { _ in Repetition() }
    sourced = Self.sourced(trees, names, indexes)
    let nodes = zip(trees, indexes).map { tree, indexes in tree.nodes.isEmpty ? [] : merge(tree, indexes) }
    let weights = zip(trees, nodes).map { tree, nodes in
      var weights = [CallTree.Weight](repeating: .zero, count: places.count)
      for (node, place) in zip(tree.nodes, nodes) { weights[place] += node.weight }
      return weights
    }
    sumFunctions(weights)
    removeObjects(objects)
    calls = sumCalls(weights, callerLines: callerLines(trees, nodes))
    addLines(trees, indexes)
    markInlined(trees, indexes)
  }

  /// All names, and for each tree the index of the name of each function.
  private static func names(of trees: [CallTree]) -> ([FunctionName], [[Int]]) {
    var (names, known): ([FunctionName], [FunctionName: Int]) = ([], [:])
    var seen: [CallTree.Function: Int] = [:]
    func index(of function: CallTree.Function) -> Int {
      let name = FunctionName(function)
      let index = known[name] ?? names.count
      if index == names.count { names.append(name) }
      known[name] = index
      seen[function] = index
      return index
    }
    let indexes = trees.map { tree in tree.functions.map { seen[$0] ?? index(of: $0) } }
    return (names, indexes)
  }

  /// The modules of functions of which the source file is known.
  private static func sourced(_ trees: [CallTree], _ names: [FunctionName], _ indexes: [[Int]]) -> Set<String> {
    var modules: Set<String> = []
    for (tree, indexes) in zip(trees, indexes) {
      for (function, index) in zip(tree.functions, indexes) where function.file != nil && !function.module.isEmpty {
        modules.insert(names[index].module)
      }
    }
    return modules
  }

  // MARK: Places

  /// The place of each node of a tree.
  private mutating func merge(_ tree: CallTree, _ indexes: [Int]) -> [Int] {
    var nodes: [Int] = []
    nodes.reserveCapacity(tree.nodes.count)
    for node in tree.nodes {
      let (parent, function) = (node.parent.map { nodes[$0] }, indexes[node.function])
      nodes.append(place(of: function, below: parent))
    }
    return nodes
  }

  private mutating func place(of function: Int, below parent: Int?) -> Int {
    if let parent {
      let (own, caller) = (functions[function], places[parent].function)
      if own.role == .allocator || own.name.name.isEmpty && caller == function { return parent }
    }
    let place = Place(parent: parent, function: function)
    if let index = indexes[place] { return index }
    places.append(place)
    indexes[place] = places.count - 1
    return places.count - 1
  }

  // MARK: Sums

  /// The calls with all that their callees hold.
  private func sumCalls(_ weights: [[CallTree.Weight]], callerLines: [Int?]) -> [ProfileSummary.Call] {
    let sums = weights.map { own in
      var sums = own
      for index in places.indices.reversed() {
        if let parent = places[index].parent { sums[parent] += sums[index] }
      }
      return sums
    }
    return places.enumerated().map { index, place in
      let live = ProfileSummary.Estimate(sums.map { $0[index].live })
      let touched = ProfileSummary.Estimate(sums.map { $0[index].touched })
      return .init(
        parent: place.parent, function: place.function,
        weight: .init(live: live.median, touched: touched.median), callerLine: callerLines[index])
    }
  }

  /// The line of each place's caller that made the calls that hold most.
  private func callerLines(_ trees: [CallTree], _ nodes: [[Int]]) -> [Int?] {
    var lines = [(held: Int64, line: Int?)](repeating: (0, nil), count: places.count)
    for (tree, nodes) in zip(trees, nodes) {
      let held = tree.heldByNode
      for (index, place) in nodes.enumerated() where held[index] > lines[place].held {
        guard let caller = tree.nodes[index].parent, nodes[caller] != place else { continue }
        let function = FunctionName.source(of: tree.functions[tree.nodes[caller].function])
        if let line = function.line { lines[place] = (held[index], line) }
      }
    }
    return lines.map(\.line)
  }

  /// Each function counts once per stack.
  private mutating func sumFunctions(_ weights: [[CallTree.Weight]]) {
    var sums = weights.map { _ in [CallTree.Weight](repeating: .zero, count: functions.count) }
    for place in places.indices where weights.contains(where: { $0[place] != .zero }) {
      let stack = stack(to: place)
      let (holders, touchers) = (holders(in: stack, .holds), holders(in: stack, .firstTouched))
      let collected = collected(stack)
      for repetition in weights.indices {
        let weight = add(weights[repetition][place], to: repetition, collected: collected)
        for function in holders {
          sums[repetition][function].live += weight.live
          sums[repetition][function].sampled += weight.sampled
        }
        for function in touchers { sums[repetition][function].touched += weight.touched }
      }
    }
    for function in functions.indices {
      functions[function].live = .init(sums.map { $0[function].live }, errors: errors(sums.map { $0[function] }))
      functions[function].touched = .init(sums.map { $0[function].touched })
    }
  }

  /// What sampling makes of the live blocks of each repetition: its standard error.
  private func errors(_ weights: [CallTree.Weight]) -> [Int64] {
    zip(weights, intervals).map { Int64((Double(max(0, $0.sampled)) * Double($1.count)).squareRoot()) }
  }

  /// Of all live blocks.
  var error: Int64 { ProfileSummary.Estimate(errors(repetitions.map(\.total))).median }

  /// Adds to the repetition's totals; the weight without pages of a collected heap.
  private mutating func add(
    _ weight: CallTree.Weight, to repetition: Int, collected: CollectedRuntime?
  ) -> CallTree.Weight {
    var plain = weight
    if let collected {
      repetitions[repetition].collected = (
        collected, (repetitions[repetition].collected?.bytes ?? 0) + weight.touched
      )
      plain.touched = 0
    }
    repetitions[repetition].total += plain
    return plain
  }

  /// Leaves of a collected heap's pages those that its live objects do not take.
  private mutating func removeObjects(_ objects: [Int64]) {
    guard let collected else { return }
    for (repetition, bytes) in zip(repetitions.indices, objects) where bytes > 0 {
      repetitions[repetition].collected = (collected, (repetitions[repetition].collected?.bytes ?? 0) - bytes)
    }
  }

  // MARK: Stacks

  /// The functions from the innermost to the outermost.
  private func stack(to place: Int) -> [Int] {
    var (stack, next): ([Int], Int?) = ([], place)
    while let at = next {
      stack.append(places[at].function)
      next = places[at].parent
    }
    return stack
  }

  /// The functions of a stack that may hold its memory: those of scripts if there are any, without a runtime's, and
  /// without those where the program starts unless nothing else is left.
  private func holders(in stack: [Int], _ evidence: MemoryEvidenceKind) -> [Int] {
    let named = stack.filter { functions[$0].role.isNamed }
    var seen: Set<Int> = []
    return withoutStart(inScripts(named, evidence) ?? named).filter { seen.insert($0).inserted }
  }

  /// Those of a stack that scripts have or call; nil without scripts.
  ///
  /// A library that a script calls may hold blocks, also objects that the interpreter, or another script, made for it.
  private func inScripts(_ named: [Int], _ evidence: MemoryEvidenceKind) -> [Int]? {
    guard let outermost = named.lastIndex(where: { functions[$0].name.isScript }) else { return nil }
    return evidence == .holds ? Array(named[...outermost]) : named.filter { functions[$0].name.isScript }
  }

  /// A stack without the functions where the program starts; of modules of Python the one that is run, since others, which
  /// are imported, hold what importing them takes.
  private func withoutStart(_ stack: [Int]) -> [Int] {
    var (kept, hasModule) = (stack, false)
    while kept.count > 1, let last = kept.last, functions[last].role == .entry {
      let isModule = functions[last].name.isPythonModule
      if isModule && hasModule { break }
      hasModule = hasModule || isModule
      kept.removeLast()
    }
    return kept
  }

  /// The runtime whose heap the pages belong to that this stack touched first, if it does not belong to another library.
  private func collected(_ stack: [Int]) -> CollectedRuntime? {
    guard let collected, let innermost = stack.first(where: { functions[$0].role.touchesForItself }) else { return nil }
    let function = functions[innermost]
    // All code of a Go program allocates in the runtime's heap, and so does generated code, which has a name or is in no file.
    let isGenerated = function.name.isScript || function.role == .unknown
    return collected == .go || isGenerated || function.role == .runtime(collected) ? collected : nil
  }

  // MARK: Debug information

  private mutating func markInlined(_ trees: [CallTree], _ indexes: [[Int]]) {
    var isCalled = [Bool](repeating: false, count: functions.count)
    for (tree, indexes) in zip(trees, indexes) {
      for (function, index) in zip(tree.functions, indexes) where !function.isInlined { isCalled[index] = true }
    }
    for index in functions.indices { functions[index].isInlined = !isCalled[index] }
  }

  /// The line of each function that holds most.
  private mutating func addLines(_ trees: [CallTree], _ indexes: [[Int]]) {
    var most = [Int64](repeating: 0, count: functions.count)
    for (tree, indexes) in zip(trees, indexes) {
      for (function, held) in zip(tree.functions.indices, tree.heldByFunction) {
        guard held > most[indexes[function]] else { continue }
        let place = FunctionName.source(of: tree.functions[function])
        guard let line = place.line else { continue }
        most[indexes[function]] = held
        (functions[indexes[function]].line, functions[indexes[function]].file) = (line, place.file)
      }
    }
  }
}

extension FunctionRole {
  fileprivate var touchesForItself: Bool { self != .allocator && self != .system }
}

extension CallTree {
  /// What the nodes of each function hold with their callees; recursive calls count more than once.
  fileprivate var heldByFunction: [Int64] {
    var held = [Int64](repeating: 0, count: functions.count)
    for (node, sum) in zip(nodes, heldByNode) { held[node.function] += sum }
    return held
  }

  /// What each node holds with its callees.
  fileprivate var heldByNode: [Int64] {
    var sums = nodes.map { $0.weight.live + $0.weight.touched }
    for index in nodes.indices.reversed() {
      if let parent = nodes[index].parent { sums[parent] += sums[index] }
    }
    return sums
  }
}
