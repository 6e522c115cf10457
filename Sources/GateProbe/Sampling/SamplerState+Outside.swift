/// Processes that have left the target's cgroup, such as those of a container.
extension SamplerState {
  /// Finds processes that have left the cgroup: the cgroup counts less than they hold.
  ///
  /// It also counts less where they share memory after a fork, so this is not repeated in each reading.
  ///
  /// - Returns: Whether it searched.
  mutating func findOutside(at time: Int64) -> Bool {
    guard let cgroup, time >= nextOutsideSearch else { return false }
    nextOutsideSearch = time + Self.outsideSearchInterval
    var at = 0
    while at < tracked.count {
      tracked[at].checkMembership(of: cgroup, at: time, buffer: buffer)
      at += 1
    }
    return true
  }

  /// In nanoseconds; a search costs some 10 µs for each process.
  private static let outsideSearchInterval: Int64 = 100_000_000

  /// The anonymous memory of processes outside of the cgroup.
  var outsideSum: Int64 {
    var (sum, at): (Int64, Int) = (0, 0)
    while at < tracked.count {
      if tracked[at].isOutside { sum += tracked[at].ownAnonymous }
      at += 1
    }
    return sum
  }
}
