/// A kind of memory, which a gate can judge by itself.
///
/// A new one is a case here, with its word in the documentation, and its amount in `GateProbe/System/KindTotals`.
package enum MemoryKind: String, Sendable, CaseIterable {
  /// Memory without a file, such as heaps and stacks (`RssAnon`).
  case anonymous
  /// Pages of mapped files (`RssFile`).
  case file
  /// Mapped pages of files in memory: tmpfs, memfd_create(2), shared mappings (`RssShmem`).
  case shared
  /// What is swapped out (`Swap` of smaps_rollup).
  case swap
  /// Resident memory in which a page that n processes map counts 1/n (`Pss`).
  case pss
  /// Resident memory that no other process maps (`Private_Clean` and `Private_Dirty`), which the end of the process frees.
  case `private`
}

/// A metric of one kind of memory, as in `peak_anonymous` and `tree_steady_pss`: measured only if a gate has a rule on it.
package struct KindMetric: Sendable, Hashable, CaseIterable {
  package let kind: MemoryKind
  /// Whether it is the level after warm-up rather than the highest reading.
  package let isSteady: Bool
  package let scope: WholeRunMetric.Scope

  package static let allCases = [WholeRunMetric.Scope.program, .tree].flatMap { scope in
    [false, true].flatMap { isSteady in
      MemoryKind.allCases.map { KindMetric(kind: $0, isSteady: isSteady, scope: scope) }
    }
  }

  private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name.text, $0) })

  private init(kind: MemoryKind, isSteady: Bool, scope: WholeRunMetric.Scope) {
    (self.kind, self.isSteady, self.scope) = (kind, isSteady, scope)
  }

  package init?(_ name: MetricName) {
    guard let metric = Self.byName[name.text] else { return nil }
    self = metric
  }

  package var name: MetricName {
    MetricName((scope == .tree ? "tree_" : "") + (isSteady ? "steady_" : "peak_") + kind.rawValue)
  }

  /// Whether each sample of the main process has it.
  package var isOfSamples: Bool { scope == .program && [.anonymous, .file, .shared].contains(kind) }

  /// Whether a page counts less where a program outside of the tree maps it as well.
  package var dependsOnOthers: Bool {
    switch kind {
    case .pss, .private: true
    case .file: scope == .tree
    case .anonymous, .shared, .swap: false
    }
  }

  package var row: WholeRunMetric.Row {
    .ofRule(
      isSteady ? .steadyLevel : .peak, scope: scope, requirement: isSteady ? .steadyState : .readings,
      explained: isSteady ? .steady : .peak)
  }
}

extension Gate {
  /// The kinds of memory that its rules judge.
  package var kinds: [KindMetric] { rules.filter { $0.severity != .off }.compactMap { KindMetric($0.metric) } }
}
