extension ProfileSummary {
  /// The summary in which inlined functions of some modules count for their callers.
  func withoutInlined(in modules: Set<String>) -> ProfileSummary {
    let isRemoved = functions.map { $0.isInlined && modules.contains($0.name.module) }
    guard isRemoved.contains(true) else { return self }
    var summary = self
    for index in functions.indices where isRemoved[index] {
      (summary.functions[index].live, summary.functions[index].touched) = (.zero, .zero)
    }
    addToEntries(of: &summary, without: isRemoved)
    summary.calls = callsWithout(isRemoved)
    return summary
  }

  /// The modules of which only this build has debug information, and not the other one.
  func modulesInlined(unlike other: ProfileSummary) -> Set<String> {
    sourced.subtracting(other.sourced).intersection(other.functions.map(\.name.module))
  }

  /// The calls of what removed functions call are those of their callers, in whose weights theirs are contained.
  private func callsWithout(_ isRemoved: [Bool]) -> [Call] {
    var (kept, places): (PlacedCalls, [Int]) = (PlacedCalls(), [])
    for call in calls {
      let caller = call.parent.map { places[$0] }
      if let caller, isRemoved[call.function] {
        places.append(caller)
        continue
      }
      let index = kept.index(of: call.function, below: caller, callerLine: call.callerLine)
      kept.calls[index].weight += call.weight
      kept.calls[index].callerLine = call.callerLine
      places.append(index)
    }
    return kept.calls
  }

  /// Where a program starts holds what only removed functions held, as no other function of the stack has a name.
  private func addToEntries(of summary: inout ProfileSummary, without isRemoved: [Bool]) {
    let own = ownWeights
    for index in calls.indices where own[index] != .zero {
      let named = calls.stack(to: index).filter { functions[$0].role.isNamed }
      let left = named.filter { !isRemoved[$0] }
      guard left.count < named.count, let entry = left.first, left.allSatisfy({ functions[$0].role == .entry }) else {
        continue
      }
      summary.functions[entry].add(own[index], spreadingLike: functions[named[0]])
    }
  }
}

/// Calls of which each function has one below each caller.
struct PlacedCalls {
  private struct Place: Hashable {
    let parent: Int?
    let function: Int
  }

  var calls: [ProfileSummary.Call] = []
  private var indexes: [Place: Int] = [:]

  /// The index of a call, which is added without a weight if there is none yet.
  mutating func index(of function: Int, below parent: Int?, callerLine: Int? = nil) -> Int {
    let place = Place(parent: parent, function: function)
    if let known = indexes[place] { return known }
    indexes[place] = calls.count
    calls.append(.init(parent: parent, function: function, weight: .zero, callerLine: callerLine))
    return calls.count - 1
  }
}

extension [ProfileSummary.Call] {
  /// The functions from that of a call to the outermost.
  func stack(to call: Int) -> [Int] { sequence(first: call) { self[$0].parent }.map { self[$0].function } }
}

extension ProfileSummary {
  /// What each call holds by itself, without its callees.
  var ownWeights: [CallTree.Weight] {
    var own = calls.map(\.weight)
    for call in calls {
      guard let parent = call.parent else { continue }
      own[parent] = own[parent] + CallTree.Weight(live: -call.weight.live, touched: -call.weight.touched)
    }
    return own
  }
}

extension ProfileSummary.Function {
  mutating func add(_ weight: CallTree.Weight, spreadingLike other: Self) {
    live = .init(
      median: live.median + weight.live, spread: max(live.spread, other.live.spread),
      error: max(live.error, other.live.error))
    touched = .init(median: touched.median + weight.touched, spread: max(touched.spread, other.touched.spread))
  }
}
