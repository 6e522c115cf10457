/// What may have risen, where only the new build was profiled.
extension ProfileComparison {
  /// So many of those that hold most may be what rose; each is joined with what changed.
  private static let mostHolding = 8
  /// The share of the rise that a function must hold to be among them.
  private static let leastHolding = 0.25

  /// What may have risen, if there is only one build; nil if no function holds enough.
  package var holding: CulpritFinding? {
    guard before == nil else { return nil }
    let least = Int64(Self.leastHolding * Double((measured ?? .zero).count))
    let holders = [MemoryEvidenceKind.holds, .firstTouched].flatMap { evidence in
      let own = ownAmounts(evidence)
      return changes(evidence).compactMap { change -> FunctionChange? in
        guard let amount = own[change.function], amount > 0, amount >= least else { return nil }
        var holder = change
        holder.now = Bytes(amount)
        return holder
      }
    }
    let largest = holders.sorted { ($1.now, $0.function) < ($0.now, $1.function) }.prefix(Self.mostHolding)
    return largest.isEmpty ? nil : .holding(largest: largest.map(addingCallers))
  }

  /// What the new build holds, each block by the innermost function that is not of a language's own library.
  private func ownAmounts(_ evidence: MemoryEvidenceKind) -> [FunctionName: Int64] {
    var own = calls.map { evidence.amount($0.now) }
    for call in calls { if let parent = call.parent { own[parent] -= evidence.amount(call.now) } }
    var holders: [FunctionName?] = []
    var sums: [FunctionName: Int64] = [:]
    for (call, amount) in zip(calls, own) {
      let isHolder = call.role.isNamed && !call.function.name.isEmpty && origin(of: call.function) != .language
      let holder = isHolder ? call.function : call.parent.flatMap { holders[$0] }
      holders.append(holder)
      if let holder { sums[holder, default: 0] += amount }
    }
    return sums
  }
}
