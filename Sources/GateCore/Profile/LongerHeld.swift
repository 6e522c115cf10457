/// Why memory is held longer than before, if no more of it is allocated.
extension ProfileComparison {
  /// The part of a rise by which the sum of all allocations may differ if no more is allocated.
  private static let equalPart: Int64 = 4

  /// What holds most beside a function whose memory is only held for longer than before; nil if nothing else holds much.
  func heldWith(_ change: FunctionChange) -> FunctionChange? {
    let connected = connected(with: change.function)
    let others = changes(.holds).filter { other in
      // It was also held at the old peak.
      !connected.contains(other.function) && other.now.count >= change.change.count / 2
        && (other.before ?? .zero).count >= other.now.count / 2 && !isHeldToTheEnd(other)
    }
    let largest = others.map(\.now).max()
    let specific = mostSpecific(of: others.filter { $0.now == largest }, unclear: { _ in .zero })
    return specific.map(addingCallers)
  }

  /// Whether it holds most of it at the end as well, as imported modules do: no change of the order brings them together.
  private func isHeldToTheEnd(_ change: FunctionChange) -> Bool {
    guard let function = end?.functions.first(where: { $0.name == change.function }) else { return false }
    return change.evidence.estimate(function).median >= change.now.count / 2
  }

  /// Whether no more was allocated than before: by the function, or where that is not exact enough, in all.
  func isReleasedLater(_ change: FunctionChange) -> Bool {
    // What a collector frees has no releases, and nobody counts how much its program allocates.
    guard explained == .peak, change.evidence == .holds, let before, now.collected == nil else { return false }
    let own = releasesBefore?.allocated(by: change.function)
    return isEqual(own, releases?.allocated(by: change.function), for: change, Self.releasesWithStack)
      ?? isEqual(before.allocated?.count, now.allocated?.count, for: change, 1) ?? false
  }

  /// Of so many releases of small blocks one has a stack (AllocationSampler, samples.c): what is known by them has the
  /// variance of a sampling interval that is longer by that.
  private static let releasesWithStack = 4.0

  /// Whether two sums of allocations differ by a small part of a rise only; nil if they are not exact enough to tell.
  private func isEqual(_ old: Int64?, _ new: Int64?, for change: FunctionChange, _ factor: Double) -> Bool? {
    guard let old, let new, old > 0, new > 0 else { return nil }
    let most = change.change.count / Self.equalPart
    return error(ofSum: max(old, new), factor) <= Double(most) ? (new - old).magnitude <= most : nil
  }

  /// What a sum of allocations may differ by, in bytes.
  private func error(ofSum sum: Int64, _ factor: Double) -> Double {
    let interval = Double(max(now.samplingInterval, before?.samplingInterval ?? .zero).count)
    return (Double(sum) * interval * factor).squareRoot() * Double(ProfileNoise.clearFactor)
  }

  /// The part of a rise that a function must release more or less of to be named for that.
  ///
  /// Runtimes make some objects of those that were released, which is not seen: so it is not all of the rise.
  private static let leastReleased = 0.3

  /// What released memory of a function in the other build, and now releases so much less that this explains the rise.
  ///
  /// Nil if it allocates more than before by as much.
  func formerRelease(of change: FunctionChange) -> FunctionChange? {
    guard let before = releasesBefore?.allocated(by: change.function),
      let now = releases?.allocated(by: change.function),
      Double(now - before) < Self.mostAllocated * Double(change.change.count)
    else { return nil }
    let found = releasesBefore.flatMap { releaser(of: change, in: $0) { -$0 } }
    // That a function released its own memory says nothing of what keeps it now.
    return found.flatMap { $0.function == change.function ? nil : $0 }
  }

  /// The part of a rise by which a function may allocate more than before if its releases are to explain the rise.
  private static let mostAllocated = 0.5

  /// What releases now most of what another function did before; nil if nothing does, as of a leak.
  func laterRelease(of change: FunctionChange, insteadOf former: FunctionChange) -> FunctionChange? {
    let later = releases.flatMap { releaser(of: change, in: $0) { $0 } }
    return later.flatMap { Double($0.change.count) >= -Self.leastShare * Double(former.change.count) ? $0 : nil }
  }

  /// Of those whose releases changed most in one direction the innermost function.
  private func releaser(
    of change: FunctionChange, in build: Releases, direction: (Int64) -> Int64
  ) -> FunctionChange? {
    guard change.evidence == .holds, let releases, let releasesBefore else { return nil }
    let (old, new) = (releasesBefore.releasers(of: change.function), releases.releasers(of: change.function))
    func amount(_ function: FunctionName) -> Int64 { direction((new[function] ?? 0) - (old[function] ?? 0)) }
    let functions = Set(old.keys).union(new.keys)
    guard let largest = functions.map(amount).max() else { return nil }
    let error = error(ofSum: max(old.values.max() ?? 0, new.values.max() ?? 0), Self.releasesWithStack)
    guard Double(largest) >= max(Self.leastReleased * Double(change.change.count), error) else { return nil }
    let candidates = functions.filter { Double(amount($0)) >= Self.leastShare * Double(largest) }
      .map { (function: $0, way: build.way(through: $0, releasing: change.function)) }
    let innermost = candidates.min { ($0.way.called, $0.function) < ($1.way.called, $1.function) }
    guard let found = innermost else { return nil }
    var released = FunctionChange(
      function: found.function, evidence: .holds, before: Bytes(old[found.function] ?? 0),
      now: Bytes(new[found.function] ?? 0), callers: found.way.callers)
    released.frames = ([found.function] + found.way.callers).map { frame(of: $0) }
    return released
  }

  /// The function, its callers, and all that it calls.
  private func connected(with function: FunctionName) -> Set<FunctionName> {
    var (isWithin, found) = ([Bool](), Set<FunctionName>())
    for (index, call) in calls.enumerated() {
      isWithin.append(call.function == function || call.parent.map { isWithin[$0] } ?? false)
      guard isWithin[index] else { continue }
      found.formUnion(sequence(first: index, next: { calls[$0].parent }).map { calls[$0].function })
    }
    return found
  }
}
