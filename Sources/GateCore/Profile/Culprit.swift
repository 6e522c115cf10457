import FoundationEssentials

/// The function that explains why a process's anonymous memory rose.
package struct Culprit: Sendable, Hashable, Codable {
  package var change: FunctionChange
  /// The share of the rise that it explains; more than 1 if other memory shrank.
  package var share: Double
}

/// Whether a function explains a rise, and why none does.
///
/// It is indirect, since trends have many runs without one.
package indirect enum CulpritFinding: Sendable, Hashable, Codable {
  case named(culprit: Culprit)
  /// The anonymous memory did not rise.
  case noRise
  /// The builds were not measured in the same way.
  case otherMethod(before: MemoryProfile.Method, now: MemoryProfile.Method)
  /// With fewer than two repetitions of each build, noise is unknown.
  case tooFewRepetitions(before: Int, now: Int)
  /// No function rose clearly more than equal repetitions differ: the largest rise, and the least that is clear.
  case belowNoise(largest: FunctionChange?, least: Bytes)
  /// No function holds enough of the rise: those that rose most.
  case spread(largest: [FunctionChange])
  /// Most of the rise is memory without a holder.
  case other(part: MemoryPart, rise: Bytes)

  package var culprit: Culprit? {
    if case .named(let culprit) = self { culprit } else { nil }
  }
}

extension ProfileComparison {
  /// A rise is clear above this multiple of the largest difference between equal repetitions (our prototype's rule).
  private static let clearFactor: Int64 = 3

  /// A process's memory is counted in pages.
  private static let page: Int64 = 4096

  /// The most functions that are named if the rise is spread over many.
  private static let mostSpread = 3

  /// The rise of the anonymous memory, without the profiler's own; nil if there is only one build.
  package var rise: Bytes? {
    before.map { Bytes(now.ownMemory - $0.ownMemory) }
  }

  /// Which function explains the rise; nil if there is only one build.
  ///
  /// A function counts with its callees. Of those that hold most of the rise, the one that holds least in all is the most
  /// specific.
  package var finding: CulpritFinding? {
    guard let before, let rise else { return nil }
    if let obstacle = obstacle(before) { return obstacle }
    guard rise > .zero, let largest = largestPart(before), largest.rise > .zero else { return .noRise }
    switch largest.part {
    case .live: return finding(.holds, growth: growth(.holds) ?? largest.rise, rise: rise)
    case .touched: return finding(.firstTouched, growth: growth(.firstTouched) ?? largest.rise, rise: rise)
    case .collectedHeap, .heap, .heapOverhead, .unattributed:
      let spreads = [before, now].map { $0.parts[largest.part]?.spread ?? 0 }
      let least = Bytes(Self.clearFactor * max(Self.page, spreads[0], spreads[1]))
      return largest.rise > least
        ? .other(part: largest.part, rise: largest.rise) : .belowNoise(largest: nil, least: least)
    }
  }

  private func obstacle(_ before: ProfileSummary) -> CulpritFinding? {
    if now.method != before.method { return .otherMethod(before: before.method, now: now.method) }
    guard min(before.repetitions, now.repetitions) >= 2 else {
      return .tooFewRepetitions(before: before.repetitions, now: now.repetitions)
    }
    return nil
  }

  /// The part of the memory that rose most.
  private func largestPart(_ before: ProfileSummary) -> (part: MemoryPart, rise: Bytes)? {
    let parts = Set(before.parts.keys).union(now.parts.keys).subtracting([.unattributed(.profiler)])
    let rises = parts.map { part in
      (part: part, rise: Bytes((now.parts[part]?.median ?? 0) - (before.parts[part]?.median ?? 0)))
    }
    return rises.max { $0.rise < $1.rise }
  }

  /// What all stacks together rose by; nil if they did not rise.
  ///
  /// By medians, as for functions: the parts are of one repetition, which sampling may have over- or underestimated.
  private func growth(_ evidence: MemoryEvidenceKind) -> Bytes? {
    let changes = calls.filter { $0.parent == nil }.map { evidence.amount($0.now) - evidence.amount($0.before) }
    let sum = changes.reduce(0, +)
    return sum > 0 ? Bytes(sum) : nil
  }

  private func finding(_ evidence: MemoryEvidenceKind, growth: Bytes, rise: Bytes) -> CulpritFinding {
    let changes = changes(evidence).sorted { ($1.change, $0.function) < ($0.change, $1.function) }
    let least = Bytes(noise(evidence) * Self.clearFactor)
    let named = Double(namedChange(evidence))
    guard growth <= least || named > (1 - Self.leastShare) * Double(growth.count) else {
      return .other(part: evidence.part, rise: growth)
    }
    guard let first = changes.first, first.change > least else {
      return .belowNoise(largest: changes.first { $0.change > .zero }.map(addingCallers), least: least)
    }
    let candidates = changes.filter { Double($0.change.count) >= Self.leastShare * Double(growth.count) }
    let clear = candidates.filter { $0.change > least }
    guard let chosen = mostSpecific(of: clear) else {
      guard candidates.isEmpty else { return .belowNoise(largest: addingCallers(candidates[0]), least: least) }
      return .spread(largest: changes.prefix(Self.mostSpread).filter { $0.change > .zero }.map(addingCallers))
    }
    return .named(
      culprit: Culprit(change: addingCallers(chosen), share: Double(chosen.change.count) / Double(rise.count)))
  }

  /// The change of all stacks with a function that can be named.
  private func namedChange(_ evidence: MemoryEvidenceKind) -> Int64 {
    var isNamed: [Bool] = []
    var sum: Int64 = 0
    for call in calls {
      let isInner = call.parent.map { isNamed[$0] } ?? false
      isNamed.append(isInner || call.role.isNamed)
      if call.role.isNamed && !isInner { sum += evidence.amount(call.now) - evidence.amount(call.before) }
    }
    return sum
  }

  /// The one that holds least in the new build; of equal ones the innermost.
  private func mostSpecific(of candidates: [FunctionChange]) -> FunctionChange? {
    guard let least = candidates.map(\.now).min() else { return nil }
    let equal = candidates.filter { $0.now == least }
    return equal.max { depth(of: $0) < depth(of: $1) }
  }

  /// How deep the largest call of a function is.
  private func depth(of change: FunctionChange) -> Int {
    let own = calls.indices.filter { calls[$0].function == change.function }
    let largest = own.max { change.evidence.amount(calls[$0].now) < change.evidence.amount(calls[$1].now) }
    return sequence(first: largest) { at in at.map { calls[$0].parent } }.prefix { $0 != nil }.count
  }

  /// The largest difference of any function between repetitions of one build, but not less than the standard error of
  /// sampled amounts: few repetitions may be equal by chance.
  private func noise(_ evidence: MemoryEvidenceKind) -> Int64 {
    let builds = [before, now].compactMap(\.self)
    let spreads = builds.flatMap { $0.functions.map { evidence.estimate($0).spread } }
    let sampled = evidence == .holds ? builds.map(Self.standardError).max() ?? 0 : 0
    return max(spreads.max() ?? 0, sampled, Self.page)
  }

  /// Of blocks that are sampled once per interval on average: the square root of their number, times the interval.
  private static func standardError(_ build: ProfileSummary) -> Int64 {
    let live = Double(build.parts[.live]?.median ?? 0)
    return Int64((live.magnitude * Double(build.samplingInterval.count)).squareRoot())
  }
}
