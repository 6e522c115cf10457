extension ProfileSummary {
  /// The summary in which each module of Python is imported by those that import it in another build.
  ///
  /// A module is imported once, and what that takes counts for whoever is the first to do it. If that is another one in the
  /// other build, its memory has not risen there; it has moved.
  func importing(like other: ProfileSummary) -> ProfileSummary {
    let (own, others) = (importPaths, other.importPaths)
    let moved = others.filter { module, path in own[module].map { $0 != path } ?? false }
    guard !moved.isEmpty else { return self }
    var regrafted = Regrafting(of: self, like: other)
    for (index, call) in calls.enumerated() { regrafted.add(call, at: index, movedTo: moved) }
    return regrafted.summary
  }

  /// The functions through which each module is imported, the outermost first; without modules that several stacks import, as
  /// of a process and another one that it has forked.
  private var importPaths: [FunctionName: [FunctionName]] {
    var (paths, seen): ([FunctionName: [FunctionName]], Set<FunctionName>) = ([:], [])
    for call in calls {
      let name = functions[call.function].name
      guard name.isPythonModule else { continue }
      let callers = call.parent.map(calls.stack) ?? []
      paths[name] = seen.insert(name).inserted ? callers.reversed().map { functions[$0].name } : nil
    }
    return paths
  }
}

/// The calls of a summary with other callers.
private struct Regrafting {
  /// With the old calls, which `placed` replaces at the end.
  private var result: ProfileSummary
  private var placed = PlacedCalls()
  private let old: ProfileSummary
  private let roles: [FunctionName: FunctionRole]
  /// What each old call holds by itself, without its callees.
  private let own: [CallTree.Weight]
  private var functions: [FunctionName: Int]
  /// The new place of each old call.
  private var places: [Int] = []

  init(of old: ProfileSummary, like other: ProfileSummary) {
    (self.old, result) = (old, old)
    own = old.ownWeights
    roles = Dictionary(other.functions.map { ($0.name, $0.role) }, uniquingKeysWith: { first, _ in first })
    let known = zip(old.functions.map(\.name), old.functions.indices)
    functions = Dictionary(known, uniquingKeysWith: { first, _ in first })
  }

  var summary: ProfileSummary {
    var summary = result
    summary.calls = placed.calls
    return summary
  }

  mutating func add(_ call: ProfileSummary.Call, at: Int, movedTo paths: [FunctionName: [FunctionName]]) {
    var parent = call.parent.map { places[$0] }
    if let path = paths[old.functions[call.function].name] {
      parent = nil
      for name in path { parent = placed.index(of: function(name), below: parent) }
    }
    let new = placed.index(of: call.function, below: parent, callerLine: call.callerLine)
    places.append(new)
    guard own[at] != .zero else { return }
    let (before, after) = (Set(old.calls.stack(to: at)), Set(placed.calls.stack(to: new)))
    var next: Int? = new
    while let index = next {
      placed.calls[index].weight += own[at]
      next = placed.calls[index].parent
    }
    for function in after.subtracting(before) {
      result.functions[function].add(own[at], spreadingLike: old.functions[call.function])
    }
    for function in before.subtracting(after) { result.functions[function].remove(own[at]) }
  }

  private mutating func function(_ name: FunctionName) -> Int {
    if let known = functions[name] { return known }
    functions[name] = result.functions.count
    result.functions.append(.init(name: name, role: roles[name] ?? .unknown))
    return result.functions.count - 1
  }
}

extension ProfileSummary.Function {
  fileprivate mutating func remove(_ weight: CallTree.Weight) {
    live = .init(median: max(0, live.median - weight.live), spread: live.spread, error: live.error)
    touched = .init(median: max(0, touched.median - weight.touched), spread: touched.spread)
  }
}
