extension ProfileComparison {
  /// ``ProfileNoise/clearFactor``, or 2 for growth.
  ///
  /// Repetitions reach the middle of a run with different amounts, which casts no doubt on the growth that follows; and
  /// both moments are of the same runs.
  private var clearFactor: Int64 { explained == .growth ? 2 : ProfileNoise.clearFactor }

  /// The most functions that are named if the rise is spread over many.
  private static let mostSpread = 3
  /// So many of the largest changes may be one of these: imports are often nested so deep.
  private static let mostSpreadSeen = 32

  /// The share of the growth that came in its second half if it went on, which would be half of it if it were steady.
  private static let leastLater = 0.2

  /// The rise of the anonymous memory, without the profiler's own; nil if there is only one build.
  package var rise: Bytes? {
    before.map { Bytes(now.ownMemory - $0.ownMemory) }
  }

  /// Which function explains the rise; nil if there is only one build.
  ///
  /// A function counts with its callees. Of those that hold most of the rise, the one that holds least in all is the most
  /// specific, or one that it calls and that holds no more than noise can explain.
  package var finding: CulpritFinding? {
    guard let before, let rise else { return nil }
    if now.method != before.method { return .otherMethod(before: before.method, now: now.method) }
    let mapped = excludesMappings ? nil : mappedRise(before)
    if let mapped, mapped.rise.count >= Int64(Self.leastShare * Double(max(rise, measured ?? rise).count)) {
      return .mapped(rise: mapped)
    }
    guard rise > .zero, let largest = largestPart(before), largest.rise > .zero else {
      return measured.map { $0 > .zero } == true ? .notReproduced : .noRise
    }
    if now.heap.isSampled != before.heap.isSampled, let runtime = now.collected ?? before.collected {
      return .unsampledHeap(of: runtime, rise: rise, reason: now.heap.obstacle ?? .oneBuild)
    }
    let finding = finding(of: largest, before: before, rise: measured ?? rise)
    return hasEnded(finding) ? .ended(rise: largest.rise) : finding
  }

  /// The rise of pages that are not anonymous; nil if it is unknown or not clear.
  private func mappedRise(_ before: ProfileSummary) -> MappedRise? {
    let rises = [(MappedRise.Kind.files, \ProfileSummary.files), (.shared, \.shared)].compactMap { kind, path in
      now[keyPath: path].flatMap { now in before[keyPath: path].map { MappedRise(kind, rise: now - $0) } }
    }
    let largest = rises.max { $0.rise < $1.rise }
    return largest.flatMap { $0.rise >= MappedRise.least ? $0 : nil }
  }

  private func finding(
    of largest: (part: MemoryPart, rise: Bytes), before: ProfileSummary, rise: Bytes
  ) -> CulpritFinding {
    switch largest.part {
    case .live: return finding(.holds, before: before, partRise: largest.rise, rise: rise)
    case .touched: return finding(.firstTouched, before: before, partRise: largest.rise, rise: rise)
    case .collectedHeap(let runtime) where !now.heap.isSampled:
      return .unsampledHeap(of: runtime, rise: largest.rise, reason: now.heap.obstacle ?? .notLoaded)
    case .collectedHeap, .heap, .heapOverhead, .unattributed:
      let spreads = [before, now].map { $0.parts[largest.part]?.spread ?? 0 }
      let least = Bytes(clearFactor * max(ProfileNoise.page, spreads[0], spreads[1]))
      return largest.rise > least
        ? .other(part: largest.part, rise: largest.rise) : .belowNoise(largest: nil, least: least, isLikely: false)
    }
  }

  /// Whether what a finding names is not growth, such as the start of a program whose steps begin before it is over.
  private func hasEnded(_ finding: CulpritFinding) -> Bool {
    guard let middle else { return false }
    switch finding {
    case .named(let culprit):
      let function = middle.functions.first { $0.name == culprit.change.function }
      let held = function.map { culprit.change.evidence.estimate($0).median } ?? 0
      return !isLater(culprit.change.now.count - held, of: culprit.change.change)
    case .other(let part, let rise):
      return !isLater((now.parts[part]?.median ?? 0) - (middle.parts[part]?.median ?? 0), of: rise)
    default: return false
    }
  }

  private func isLater(_ amount: Int64, of change: Bytes) -> Bool {
    Double(amount) >= Self.leastLater * Double(change.count)
  }

  /// The part of the memory that rose most.
  private func largestPart(_ before: ProfileSummary) -> (part: MemoryPart, rise: Bytes)? {
    let parts = Set(before.parts.keys).union(now.parts.keys).subtracting([.unattributed(.profiler)])
    let rises = parts.map { part in
      (part: part, rise: Bytes((now.parts[part]?.median ?? 0) - (before.parts[part]?.median ?? 0)))
    }
    guard let largest = rises.max(by: { $0.rise < $1.rise }), let live = rises.first(where: { $0.part == .live }) else {
      return rises.max { $0.rise < $1.rise }
    }
    func isLive(_ least: Double) -> Bool { Double(live.rise.count) >= least * Double(largest.rise.count) }
    return switch largest.part {
    case .collectedHeap where isLive(Self.leastOfHeap): (.live, live.rise + largest.rise)
    case .heapOverhead where isLive(Self.leastOfOverhead): live
    default: largest
    }
  }

  /// The share of what a heap's holes and overhead rose by that its live blocks must have risen by to be what is named: the
  /// holes lie between them, and which of the two is larger at the peak is chance.
  private static let leastOfOverhead = 0.5

  /// The share of a heap's rise that its objects must have to explain it: a collector lets its heap grow with what is live,
  /// to the double (`GOGC=100`), the fourfold (V8's `kMaxHeapGrowingFactor`) or more.
  private static let leastOfHeap = 0.1

  /// What all stacks together rose by; nil if they did not rise.
  ///
  /// By medians, as for functions: the parts are of one repetition, which sampling may have over- or underestimated.
  private func growth(_ evidence: MemoryEvidenceKind) -> Bytes? {
    let changes = calls.filter { $0.parent == nil }.map { $0.change(evidence) }
    let sum = changes.reduce(0, +)
    return sum > 0 ? Bytes(sum) : nil
  }

  private func finding(
    _ evidence: MemoryEvidenceKind, before: ProfileSummary, partRise: Bytes, rise: Bytes
  ) -> CulpritFinding {
    let growth = growth(evidence) ?? partRise
    let noise = ProfileNoise([before, now], evidence)
    let leastInAll = Bytes(noise.largest * clearFactor)
    func least(_ change: FunctionChange) -> Bytes {
      // What a check has judged is not chance, and what holds most of that is not what only differs between repetitions.
      let isJudged = measured.map { Double(change.change.count) >= leastOfMetric * Double($0.count) } ?? false
      return Bytes((isJudged ? noise.own(of: change.function) : noise[change.function]) * clearFactor)
    }
    func isMost(_ change: Int64, _ share: Double) -> Bool { Double(change) >= share * Double(growth.count) }
    guard growth <= leastInAll || isMost(namedChange(evidence), 1 - Self.leastShare) else {
      return .other(part: evidence.part, rise: growth)
    }
    let rises = changes(evidence).filter { $0.change > .zero }
      .sorted { ($1.change, $0.function) < ($0.change, $1.function) }
    guard let first = rises.first else {
      return .belowNoise(largest: nil, least: leastInAll, isLikely: false)
    }
    let candidates = rises.filter { isMost($0.change.count, Self.leastShare) }
    let clear = rises.filter { $0.change > least($0) }
    // What a function of the language's library calls is a part of a clear rise, so that only its own noise counts.
    let parts = rises.filter {
      Double($0.change.count) > Double(noise.own(of: $0.function) * clearFactor) && origin(of: $0.function) != .language
    }
    // Where blocks rose by clearly more than the metric, the rest is what others hold less of, or noise.
    let ofMetric =
      isExcess(growth, of: rise) ? onlyHolder(of: rise, among: clear, parts, unclear: least) : nil
    let holder =
      ofMetric ?? culprit(among: clear, parts, growth: growth, unclear: least)
      ?? onlyHolder(of: min(rise, growth), among: clear, parts, unclear: least)
    guard let chosen = holder else {
      if candidates.isEmpty, first.change > least(first) {
        return .spread(largest: separate(rises).map { addingCalled($0, among: rises) })
      }
      let likely = measured == nil ? nil : culprit(among: candidates, rises, growth: growth, unclear: least)
      let largest = addingCalled(addingCallers(likely ?? first), among: rises)
      return .belowNoise(largest: largest, least: least(largest), isLikely: likely != nil)
    }
    if origin(of: chosen.function) == .language {
      let largest = separate(parts)
      if isMost(largest.map(\.change.count).reduce(0, +), Self.leastShare) { return .spread(largest: largest) }
    }
    let (isReleasedLater, formerRelease) = (isReleasedLater(chosen), formerRelease(of: chosen))
    let laterRelease = formerRelease.flatMap { self.laterRelease(of: chosen, insteadOf: $0) }
    var culprit = Culprit(
      change: addingCalled(addingCallers(chosen), among: rises),
      share: min(1, Double(chosen.change.count) / Double(max(1, rise.count))),
      othersFell: fallBeside(chosen, of: rise), isReleasedLater: isReleasedLater,
      heldWith: isReleasedLater && formerRelease == nil ? heldWith(chosen) : nil,
      parts: self.parts(of: chosen, among: clear), formerRelease: formerRelease,
      laterRelease: laterRelease)
    if now.processes != before.processes { culprit.processes = .init(before: before.processes, now: now.processes) }
    return .named(culprit: culprit)
  }

  /// The share of the metric's rise that a function must hold.
  ///
  /// A collected heap is larger than its objects by as much again, more or less (`GOGC=100`, runtime package of Go).
  private var leastOfMetric: Double { now.collected == nil ? Self.leastShare : 0.5 }

  /// What holds most of the metric's rise where the blocks rose by more, as in a heap whose garbage became less; nil if
  /// different memory does.
  private func onlyHolder(
    of rise: Bytes, among rises: [FunctionChange], _ parts: [FunctionChange], unclear: (FunctionChange) -> Bytes
  ) -> FunctionChange? {
    let amount = Bytes(clampedFrom: leastOfMetric / Self.leastShare * Double(rise.count))
    let most = rises.filter { Double($0.change.count) >= Self.leastShare * Double(amount.count) }
    guard !most.isEmpty, separate(most).count == 1 else { return nil }
    return culprit(among: most, parts, growth: amount, unclear: unclear)
  }

  /// A function that holds more than this multiple of the rise looks wrong without a word on the rest: sampling alone is
  /// off by less.
  private static let clearExcess = 1.1

  /// What the metric rose by less than a function that holds clearly more than it and the process rose by.
  private func fallBeside(_ chosen: FunctionChange, of rise: Bytes) -> Bytes? {
    guard let own = self.rise, isExcess(chosen.change, of: max(own, rise)) else { return nil }
    return chosen.change - rise
  }

  private func isExcess(_ amount: Bytes, of rise: Bytes) -> Bool {
    Double(amount.count) > Self.clearExcess * Double(rise.count)
  }

  /// The share of what a function holds that makes one of several that it calls worth a word.
  private static let leastPart = 0.2

  /// What of a function of the program others hold that it calls; empty if no such parts are known, or one has most.
  private func parts(of chosen: FunctionChange, among rises: [FunctionChange]) -> [FunctionChange] {
    guard origin(of: chosen.function) == .program else { return [] }
    if let package = inPackage(beneath: chosen, among: rises) { return [package] }
    let called = functions(calledBy: chosen.function).subtracting([chosen.function])
    func share(_ part: FunctionChange) -> Double { Double(part.change.count) / Double(chosen.change.count) }
    let inner = rises.filter { rise in
      called.contains(rise.function) && !rise.function.name.isEmpty && share(rise) >= Self.leastPart
        && origin(of: rise.function) != .language
    }
    let parts = separate(inner)
    return parts.count > 1 && parts.map(share).reduce(0, +) >= Self.leastShare ? parts : []
  }

  /// The share of what a function of the program holds that makes one of a package beneath it worth a word.
  private static let leastInPackage = 0.4

  /// The function of a package that holds most beneath one of the program: the memory of one call may belong to several
  /// functions, of which none has enough of the rise, as an argument that is never released and what keeps it.
  private func inPackage(beneath chosen: FunctionChange, among rises: [FunctionChange]) -> FunctionChange? {
    guard origin(of: chosen.function) == .program else { return nil }
    let called = functions(calledBy: chosen.function)
    let least = Self.leastInPackage * Double(chosen.change.count)
    let inner = rises.filter { rise in
      Double(rise.change.count) >= least && called.contains(rise.function) && origin(of: rise.function) == .package
    }
    let largest = inner.map(\.change).max()
    return mostSpecific(of: inner.filter { $0.change == largest }, unclear: { _ in .zero })
  }

  /// The share of what a function holds from which one that it calls may have to do with it.
  private static let leastBeneath = 0.1

  private func addingCalled(_ chosen: FunctionChange, among parts: [FunctionChange]) -> FunctionChange {
    let called = functions(calledBy: chosen.function).subtracting([chosen.function])
    let least = Self.leastBeneath * Double(chosen.change.count)
    var change = chosen
    change.beneath = parts.filter { Double($0.change.count) >= least && called.contains($0.function) }.map { part in
      var part = part
      part.frames = [frame(of: part.function)]
      return part
    }
    let risen = parts.map(\.function).filter(called.contains)
    change.called = (risen + called.subtracting(risen).sorted()).map { frame(of: $0) }
    return change
  }

  /// The largest ones that hold different memory; of two that share most of what one of them holds, the one that is called if
  /// it has most of the other's change.
  private func separate(_ rises: [FunctionChange]) -> [FunctionChange] {
    var shown: [FunctionChange] = []
    for change in rises.prefix(Self.mostSpreadSeen) {
      if let other = shown.firstIndex(where: { shares($0, change) }) {
        let isMost = Double(change.change.count) >= Self.leastShare * Double(shown[other].change.count)
        if isMost, functions(calledBy: shown[other].function).contains(change.function) { shown[other] = change }
      } else if shown.count < Self.mostSpread {
        shown.append(change)
      }
    }
    return shown.sorted { ($1.change, $0.function) < ($0.change, $1.function) }.map(addingCallers)
  }

  /// Whether two functions have more of the smaller change in common than may be left out of what is named.
  private func shares(_ first: FunctionChange, _ second: FunctionChange) -> Bool {
    var (isWithin, common): ([(Bool, Bool)], Int64) = ([], 0)
    for call in calls {
      let outer = call.parent.map { isWithin[$0] } ?? (false, false)
      let inner = (outer.0 || call.function == first.function, outer.1 || call.function == second.function)
      isWithin.append(inner)
      guard inner == (true, true), outer != (true, true) else { continue }
      common += call.change(first.evidence)
    }
    let smaller = min(first.change, second.change)
    return Double(common) > (1 - Self.leastShare) * Double(smaller.count)
  }

  /// The change of all stacks with a function that can be named.
  private func namedChange(_ evidence: MemoryEvidenceKind) -> Int64 {
    var isNamed: [Bool] = []
    var sum: Int64 = 0
    for call in calls {
      let isInner = call.parent.map { isNamed[$0] } ?? false
      isNamed.append(isInner || call.role.isNamed)
      if call.role.isNamed && !isInner { sum += call.change(evidence) }
    }
    return sum
  }

  /// The share of a package's function from which one of the program that it calls stands for it.
  private static let mostOfPackage = 0.5

  /// The most specific of the functions that hold most of the growth.
  ///
  /// The language's library is rarely what changed, and neither is a framework. So a function of a package that calls the
  /// program, as a dispatcher does, stands for the function of the program that most of it came through; and one of the library stands
  /// for one of a package or of the program: for one that it calls, as an event loop does, unless most of the growth came past
  /// that, or else for one that calls it.
  private func culprit(
    among rises: [FunctionChange], _ parts: [FunctionChange], growth: Bytes, unclear: (FunctionChange) -> Bytes
  ) -> FunctionChange? {
    func most(_ rises: [FunctionChange], of amount: Bytes) -> FunctionChange? {
      let least = Self.leastShare * Double(amount.count)
      let candidates = rises.filter { Double($0.change.count) >= least }
      guard let chosen = mostSpecific(of: candidates, unclear: unclear), isReleasedLater(chosen) else {
        return mostSpecific(of: candidates, unclear: unclear)
      }
      // A peak at another time shows what was held then before, too; what allocates more is why it is there.
      let others = candidates.filter { other in
        other.change > chosen.change && !shares(other, chosen) && !isReleasedLater(other)
      }
      return mostSpecific(of: others, unclear: unclear) ?? chosen
    }
    guard let chosen = most(rises, of: growth) else { return nil }
    let origin = origin(of: chosen.function)
    if origin == .program { return chosen }
    let called = functions(calledBy: chosen.function)
    let others = parts.filter { !$0.function.name.isEmpty && $0.function != chosen.function }
    let least =
      origin == .package
      ? Self.mostOfPackage * Double(chosen.change.count) : (1 - Self.leastShare) * Double(growth.count)
    let inner = others.filter { other in
      called.contains(other.function) && Double(other.change.count) > least
        && (origin == .language || self.origin(of: other.function) == .program)
    }
    guard let largest = inner.max(by: { $0.change < $1.change }) else {
      let outer = others.filter { self.origin(of: $0.function) != .language }
      return (origin == .language ? most(outer, of: growth) : nil) ?? chosen
    }
    let beneath = functions(calledBy: largest.function)
    return most(inner.filter { beneath.contains($0.function) }, of: largest.change) ?? chosen
  }

  /// The one that holds least in the new build; of those that do not clearly hold more the innermost.
  func mostSpecific(
    of all: [FunctionChange], unclear: (FunctionChange) -> Bytes
  ) -> FunctionChange? {
    let candidates = withoutNameless(all)
    guard let least = candidates.min(by: { $0.now < $1.now }) else { return nil }
    return candidates.filter { $0.now <= least.now + unclear(least) }.max { depth(of: $0) < depth(of: $1) }
  }

  /// Code without a name only counts if nothing with a name is left but the start of the program, or if it is known at
  /// least whose code it is, as of an installed package.
  private func withoutNameless(_ candidates: [FunctionChange]) -> [FunctionChange] {
    let named = candidates.filter { !$0.function.name.isEmpty }
    let modules = Set(named.map(\.function.module))
    let hasOther = named.contains { known($0.function)?.role == .own }
    return candidates.filter { candidate in
      guard candidate.function.name.isEmpty else { return true }
      let isOfPackage = origin(of: candidate.function) == .package
      return !modules.contains(candidate.function.module) && (isOfPackage || !hasOther)
    }
  }

  /// How deep the largest call of a function is.
  private func depth(of change: FunctionChange) -> Int {
    let own = calls.indices.filter { calls[$0].function == change.function }
    let largest = own.max { change.evidence.amount(calls[$0].now) < change.evidence.amount(calls[$1].now) }
    return sequence(first: largest) { at in at.map { calls[$0].parent } }.prefix { $0 != nil }.count
  }

  /// The function and all that it calls.
  private func functions(calledBy function: FunctionName) -> Set<FunctionName> {
    var isWithin: [Bool] = []
    for call in calls { isWithin.append(call.function == function || call.parent.map { isWithin[$0] } ?? false) }
    return Set(zip(calls, isWithin).filter(\.1).map(\.0.function))
  }
}
