/// How much memory a self-check injects into the target.
package enum InjectedAmount: Sendable, Equatable {
  /// 5 % of the peak, and at least twice what the gate allows.
  case automatic
  /// Of the peak that the unchanged program has in the same self-check.
  case share(Percent)
  case size(Bytes)

  /// Parses `auto`, a share, a size or zero, as in `5%`, `2MiB` or `0`; nil for any other text.
  package init?(parsing text: String) {
    if text == "auto" {
      self = .automatic
    } else if let share = try? Percent(parsing: text) {
      self = .share(share)
    } else if let size = Double(text) == 0 ? .zero : try? Bytes(parsing: text) {
      self = .size(size)
    } else {
      return nil
    }
  }

  package var isZero: Bool { self == .size(.zero) || self == .share(Percent(0)) }

  /// The amount in whole pages, rounded up.
  ///
  /// `allowed` is the most that a rule of the gate allows memory to rise.
  package func bytes(ofPeak peak: Bytes, allowed: Double = 0, pageSize: Int) -> Bytes {
    let bytes =
      switch self {
      case .automatic: Bytes(clampedFrom: max(Double(peak.count) / 20, 2 * allowed))
      case .share(let share): Bytes(clampedFrom: Double(peak.count) * share.value / 100)
      case .size(let size): size
      }
    let page = Int64(max(1, pageSize))
    return Bytes((bytes.count + page - 1) / page * page)
  }
}

/// Whether the gate of a scenario finds a known amount of memory that each program of the target was made to hold.
package struct ScenarioSelfCheck: Sendable, Equatable {
  package enum Outcome: String, Sendable, CaseIterable, Codable {
    /// The injected memory was found.
    case found
    /// Nothing was injected, and nothing was found.
    case quiet
    /// The program does nothing to which the regression could be added: it creates no threads, or starts no processes.
    case notInjected = "not-injected"
    /// The program does not load the library, so that nothing is known.
    case notLoaded = "not-loaded"
    /// The gate allows a rise of this amount.
    case allowed
    /// No rule of the gate compares resident memory with the baseline.
    case notGated = "not-gated"
    /// The injected memory exceeds what the gate allows, but was not found.
    case missed
    /// Nothing was injected, but a rise was found.
    case falseAlarm = "false-alarm"
    case inconclusive
    case failed

    /// Whether what was asked for was injected, so that the outcome says something about the gate.
    package var isOfInjection: Bool { self != .notInjected && self != .notLoaded }
  }

  /// Measured with the injected memory, and judged against the unchanged program.
  package let result: ScenarioResult
  /// The amount that was asked for.
  package let amount: InjectedAmount
  package let mutation: Mutation
  private let state: InjectionState
  /// The memory that each program of the target was made to hold.
  package let injected: Bytes
  /// Whether a run of the unchanged program failed.
  package let failsUnchanged: Bool
  /// The metrics that the unchanged program already fails, by a limit.
  private let known: Set<MetricName>

  package init(
    _ result: ScenarioResult,
    unchanged: ScenarioResult,
    injecting amount: InjectedAmount,
    of injected: Bytes,
    as mutation: Mutation = .held,
    state: InjectionState = .injected
  ) {
    (self.result, self.amount, self.injected) = (result, amount, injected)
    (self.mutation, self.state) = (mutation, state)
    failsUnchanged = unchanged.failure != nil
    known = Set(unchanged.metrics.filter { $0.verdict == .regression }.map(\.metric))
  }

  package var name: ScenarioName { result.name }

  /// The rules that the injected memory can break.
  private var gated: [MetricResult] {
    result.metrics.filter { metric in
      metric.rule.severity == .fail && (metric.metric.kind.isLevel || mutation != .held)
    }
  }

  /// The metrics that the check reports as risen.
  package var found: [MetricResult] {
    injected == .zero
      ? result.metrics.filter { $0.rule.severity == .fail && $0.verdict == .regression }
      : gated.filter { $0.verdict == .regression && (!known.contains($0.metric) || $0.isBeyondTolerance) }
  }

  /// The metrics whose tolerance could show the injected memory.
  package var compared: [MetricResult] { gated.filter { $0.allowed != nil } }

  package var outcome: Outcome {
    if result.verdict == .failed { return .failed }
    guard result.failure == nil, amount.isZero || injected > .zero else { return .inconclusive }
    if amount.isZero { return outcomeWithoutInjection }
    if state != .injected { return state == .notLoaded ? .notLoaded : .notInjected }
    if !found.isEmpty { return .found }
    let allowances = compared.compactMap(\.allowed)
    let isAllowed = !allowances.isEmpty && allowances.allSatisfy { $0 >= Double(injected.count) }
    if isAllowed, mutation == .held { return .allowed }
    if result.verdict == .inconclusive { return .inconclusive }
    return allowances.isEmpty ? .notGated : .missed
  }

  private var outcomeWithoutInjection: Outcome {
    switch result.verdict {
    case .regression: .falseAlarm
    case .pass, .improved, .skipped: .quiet
    case .inconclusive, .noBaseline, .failed: .inconclusive
    }
  }

  /// `pass` if the gate found what was injected, and nothing else; `regression` if it did not.
  package var verdict: Verdict {
    switch outcome {
    case .found, .quiet, .notInjected: .pass
    case .allowed, .notGated, .missed, .falseAlarm: .regression
    case .inconclusive, .notLoaded: .inconclusive
    case .failed: .failed
    }
  }

  /// An amount that the gate would find: the smallest detectable change, rounded up to a power of two.
  package var detectableAmount: Bytes? {
    let smallest = compared.compactMap { $0.detectable ?? $0.allowed }.min()
    guard let smallest, smallest < Double(Bytes.largest.count / 2) else { return nil }
    var amount = Int64(1024)
    while Double(amount) <= smallest { amount *= 2 }
    return Bytes(amount)
  }
}

extension MetricResult {
  fileprivate var isBeyondTolerance: Bool {
    guard let shift = change?.shift, let allowed else { return false }
    return shift > allowed
  }
}

/// The self-checks of one run.
package struct SelfCheckResult: Sendable, Equatable {
  package let run: RunInfo
  package var checks: [ScenarioSelfCheck]

  package init(run: RunInfo, checks: [ScenarioSelfCheck]) {
    (self.run, self.checks) = (run, checks)
  }

  package var verdict: Verdict { Verdict.combined(checks.map(\.verdict)) ?? .inconclusive }
}
