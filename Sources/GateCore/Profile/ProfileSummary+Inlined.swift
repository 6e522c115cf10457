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

  private struct Place: Hashable {
    let parent: Int?
    let function: Int
  }

  /// The calls of what removed functions call are those of their callers, in whose weights theirs are contained.
  private func callsWithout(_ isRemoved: [Bool]) -> [Call] {
    var (kept, places, indexes): ([Call], [Int], [Place: Int]) = ([], [], [:])
    for call in calls {
      let caller = call.parent.map { places[$0] }
      if let caller, isRemoved[call.function] {
        places.append(caller)
        continue
      }
      let place = Place(parent: caller, function: call.function)
      let index = indexes[place] ?? kept.count
      let weight = index < kept.count ? kept[index].weight + call.weight : call.weight
      let merged = Call(parent: caller, function: call.function, weight: weight, callerLine: call.callerLine)
      if index < kept.count { kept[index] = merged } else { kept.append(merged) }
      indexes[place] = index
      places.append(index)
    }
    return kept
  }

  /// Where a program starts holds what only removed functions held, as no other function of the stack has a name.
  private func addToEntries(of summary: inout ProfileSummary, without isRemoved: [Bool]) {
    let own = ownWeights
    for index in calls.indices where own[index] != .zero {
      let stack = sequence(first: index) { calls[$0].parent }.map { calls[$0].function }
      let named = stack.filter { functions[$0].role.isNamed }
      let left = named.filter { !isRemoved[$0] }
      guard left.count < named.count, let entry = left.first, left.allSatisfy({ functions[$0].role == .entry }) else {
        continue
      }
      summary.functions[entry].add(own[index], spreadingLike: functions[named[0]])
    }
  }
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
