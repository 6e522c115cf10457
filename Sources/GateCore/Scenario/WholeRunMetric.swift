/// A metric of a whole repetition, in the order of reports.
///
/// A new one is a case here with its row, its value in `Measurement/Metrics.swift`, and its words in `Reports/Words`
/// (`MetricWords`): without one of them it does not compile.
package enum WholeRunMetric: String, Sendable, CaseIterable {
  /// The highest high-water mark (`VmHWM`) of a process of the tree, or that of the main process if a rule names it.
  case peakRSS = "peak_rss"
  /// The level of the main process after its warm-up.
  case steadyRSS = "steady_rss"
  /// The slope of resident memory in steady state, per iteration or per second.
  case growth
  /// The highest rise above the steady level.
  case spike
  /// What a load leaves behind: the steady level above the memory at the first mark of a phase or an iteration; of one
  /// phase the memory at its end above that at its begin.
  case retained
  /// The memory that page faults make resident, in bytes per second.
  case faultRate = "fault_rate"
  /// The highest memory of the whole process tree (``Recording/treePeak``).
  case treePeak = "tree_peak"
  /// The level of the memory of the whole process tree after its warm-up.
  case treeSteady = "tree_steady"

  package var name: MetricName { MetricName(rawValue) }

  /// What is known of the metric, apart from its value and its words.
  ///
  /// No member has a default, so that nothing is forgotten.
  package struct Row: Sendable, Equatable {
    package let kind: MetricKind
    package let scope: Scope
    /// Whether each phase has it, as in `phase.load.peak_rss`.
    package let isOfPhase: Bool
    /// Whether the default gate judges it, if the scenario can have it.
    package let isStandard: Bool
    /// Whether every program that was measured has it, so that the default gate is inconclusive without it.
    package let isIndispensable: Bool
    /// Why it may be missing.
    package let requirement: Requirement
    /// The same of the whole tree: a rise of one process passes if the tree fell by as much.
    package let ofTree: WholeRunMetric?
    /// What `explain` compares if it rose; nil if no memory explains it.
    package let explained: ExplainedRise?
    /// Where it counts without a rule of the gate.
    package let withoutRule: WithoutRule
    /// Whether trends search it for changes without a rule, and overviews have a column for it.
    package let isHeadline: Bool
    /// Whether the values of one command list it even if it is missing, since nearly every program has it.
    package let isAlwaysListed: Bool

    /// Of a metric that exists only where the gate has a rule on it.
    static func ofRule(
      _ kind: MetricKind, scope: Scope = .program, requirement: Requirement = .readings, explained: ExplainedRise?
    ) -> Row {
      Row(
        kind: kind, scope: scope, isOfPhase: false, isStandard: false, isIndispensable: false,
        requirement: requirement, ofTree: nil, explained: explained, withoutRule: .stored, isHeadline: false,
        isAlwaysListed: false)
    }
  }

  package enum Scope: Sendable {
    case program
    /// The whole process tree, which is counted according to a ``TreeMethod``.
    case tree
  }

  /// What a repetition must have for the metric to exist.
  package enum Requirement: Sendable {
    /// Enough readings of what it is computed from.
    case readings
    case steadyState
    /// A steady state, or with enough iterations readings within them.
    case steadyStateOrIterations
    /// A steady state, and a phase or an iteration.
    case steadyStateAfterLoad

    package var isOfSteadyState: Bool { self != .readings }
  }

  /// Where a metric counts that no rule of the gate names; each includes those before.
  package enum WithoutRule: Sendable, Comparable {
    /// Only in results: it depends on the speed of the machine, or on what a phase means.
    case stored
    /// Also in studies and in notes on rises: it differs from run to run.
    case studied
    /// Also in what people review before they approve it.
    case reviewed
  }

  package var row: Row {
    switch self {
    case .peakRSS:
      Row(
        kind: .peak, scope: .program, isOfPhase: true, isStandard: true, isIndispensable: true, requirement: .readings,
        ofTree: .treePeak, explained: .peak, withoutRule: .reviewed, isHeadline: true, isAlwaysListed: true)
    case .steadyRSS:
      Row(
        kind: .steadyLevel, scope: .program, isOfPhase: true, isStandard: true, isIndispensable: false,
        requirement: .steadyState, ofTree: .treeSteady, explained: .steady, withoutRule: .reviewed, isHeadline: true,
        isAlwaysListed: true)
    case .growth:
      Row(
        kind: .slope, scope: .program, isOfPhase: false, isStandard: true, isIndispensable: false,
        requirement: .steadyStateOrIterations, ofTree: nil, explained: .growth, withoutRule: .reviewed,
        isHeadline: false, isAlwaysListed: false)
    case .spike:
      Row(
        kind: .height, scope: .program, isOfPhase: false, isStandard: false, isIndispensable: false,
        requirement: .steadyState, ofTree: nil, explained: .peak, withoutRule: .studied, isHeadline: false,
        isAlwaysListed: false)
    case .retained:
      Row(
        kind: .remainder, scope: .program, isOfPhase: true, isStandard: false, isIndispensable: false,
        requirement: .steadyStateAfterLoad, ofTree: nil, explained: .steady, withoutRule: .stored, isHeadline: false,
        isAlwaysListed: false)
    case .faultRate:
      Row(
        kind: .rate, scope: .program, isOfPhase: false, isStandard: false, isIndispensable: false,
        requirement: .readings, ofTree: nil, explained: nil, withoutRule: .stored, isHeadline: false,
        isAlwaysListed: false)
    case .treePeak:
      Row(
        kind: .peak, scope: .tree, isOfPhase: false, isStandard: true, isIndispensable: false, requirement: .readings,
        ofTree: nil, explained: .peak, withoutRule: .reviewed, isHeadline: false, isAlwaysListed: true)
    case .treeSteady:
      Row(
        kind: .steadyLevel, scope: .tree, isOfPhase: false, isStandard: true, isIndispensable: false,
        requirement: .steadyState, ofTree: nil, explained: .steady, withoutRule: .reviewed, isHeadline: false,
        isAlwaysListed: false)
    }
  }
}

/// Which rise is explained; named like the metric that it is of.
package enum ExplainedRise: String, Sendable, Hashable, CaseIterable, Codable {
  case peak = "peak_rss"
  case steady = "steady_rss"
  case growth
}
