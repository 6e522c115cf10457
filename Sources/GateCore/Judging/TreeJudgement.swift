import Statistics

extension [RepetitionResult] {
  /// Whether the tree may have more memory than the program: it has several processes, or what it holds is not resident in
  /// any of them, such as files of tmpfs and memfd_create(2).
  var haveTreeMemory: Bool {
    func median(_ metric: MetricName) -> Double? { Spread.median(compactMap { $0.metrics[metric] }) }
    return contains { $0.processes > 1 } || TreeMemory.isBeyond(median(.peakRSS), in: median(.treePeak))
  }
}

private enum TreeMemory {
  /// A cgroup counts a single process within batches of 64 pages per CPU (``CgroupMemoryReader``): 512 KiB on two CPUs.
  private static let (least, leastShare) = (Double(Bytes.mebibytes(1).count), 0.05)

  static func isBeyond(_ peak: Double?, in tree: Double?) -> Bool {
    guard let tree, let peak else { return false }
    return tree - peak > max(least, leastShare * peak)
  }
}

extension ScenarioResult {
  var hasTreeMemory: Bool { repetitions.haveTreeMemory }
}

extension MetricName {
  /// Whether the default gate judges the metric: a tree may have no memory beyond the program's, and growth needs
  /// iterations to be comparable between runs of different length.
  func isInDefaultGate(hasTreeMemory: Bool, growthIsPerIteration: Bool) -> Bool {
    (hasTreeMemory || !isOfTree) && (growthIsPerIteration || kind != .slope)
  }
}

extension Baseline {
  /// The same for the approved values.
  var hasTreeMemory: Bool {
    TreeMemory.isBeyond(metrics[.peakRSS].flatMap(Spread.median), in: metrics[.treePeak].flatMap(Spread.median))
  }
}

extension ScenarioResult {
  /// Lets a rise of one process pass if the tree fell for certain by at least as much.
  ///
  /// What a machine must have is the memory of the tree: workers that share the pages of a loaded parent have more pages
  /// of files in each of them, and less memory in all. It is not an improvement, so that it is not approved unseen.
  mutating func weighRisesAgainstTree() {
    for (process, tree) in WholeRunMetric.allCases.map({ ($0.name, $0.row.ofTree?.name) }) {
      guard let tree, let at = summary.metrics.firstIndex(where: { $0.metric == process && $0.verdict == .regression }),
        let rise = summary.metrics[at].change?.shift,
        let change = summary.metrics.first(where: { $0.metric == tree && $0.verdict == .improved })?.change,
        -change.shift >= rise
      else { continue }
      (summary.metrics[at].verdict, summary.metrics[at].reason) = (.pass, nil)
      notes.append(.riseOutweighed(metric: process, rise: rise, tree: tree, fall: -change.shift))
    }
  }
}
