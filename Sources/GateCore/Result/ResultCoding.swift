import FoundationEssentials

extension RunInfo {
  enum CodingKeys: String, CodingKey {
    case id, startedAt
    case duration = "durationSeconds"
    case commit
    case isDirty = "dirty"
    case tree, subject, branch, buildURL, pullRequest, shard, notes
  }

  /// Only the ID is required.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
    self.init(
      id: try fields.decode(String.self, forKey: .id),
      startedAt: try fields.decodeIfPresent(Date.self, forKey: .startedAt) ?? Date(timeIntervalSince1970: 0),
      duration: try fields.decodeIfPresent(Duration.self, forKey: .duration) ?? .zero,
      commit: try text(.commit),
      isDirty: try fields.decodeIfPresent(Bool.self, forKey: .isDirty) ?? false,
      subject: try text(.subject),
      branch: try text(.branch),
      buildURL: try text(.buildURL),
      pullRequest: try text(.pullRequest),
      shard: try fields.decodeIfPresent(Shard.self, forKey: .shard),
      notes: try fields.decodeIfPresent([RunNote].self, forKey: .notes) ?? []
    )
    tree = try text(.tree)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(startedAt, forKey: .startedAt)
    try fields.encode(duration, forKey: .duration)
    try fields.encodeIfPresent(commit, forKey: .commit)
    if isDirty { try fields.encode(true, forKey: .isDirty) }
    try fields.encodeIfPresent(tree, forKey: .tree)
    try fields.encodeIfPresent(subject, forKey: .subject)
    try fields.encodeIfPresent(branch, forKey: .branch)
    try fields.encodeIfPresent(buildURL, forKey: .buildURL)
    try fields.encodeIfPresent(pullRequest, forKey: .pullRequest)
    try fields.encodeIfPresent(shard, forKey: .shard)
    if !notes.isEmpty { try fields.encode(notes, forKey: .notes) }
  }
}

extension RunInfo.Shard: Codable {
  private enum CodingKeys: CodingKey {
    case index, count, scenarios
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      index: try fields.decode(Int.self, forKey: .index), count: try fields.decode(Int.self, forKey: .count),
      scenarios: try fields.decodeIfPresent([ScenarioName].self, forKey: .scenarios) ?? [])
    guard count >= 1, (1...count).contains(index) else { throw fields.corrupted(.index, "is not from 1 to `count`") }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(index, forKey: .index)
    try fields.encode(count, forKey: .count)
    if !scenarios.isEmpty { try fields.encode(scenarios, forKey: .scenarios) }
  }
}

extension Approval {
  enum CodingKeys: String, CodingKey {
    case at, by, commit
    case isDirty = "dirty"
    case reason, run
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      at: try fields.decode(Date.self, forKey: .at), by: try fields.decode(String.self, forKey: .by),
      commit: try fields.decodeIfPresent(String.self, forKey: .commit),
      isDirty: try fields.decodeIfPresent(Bool.self, forKey: .isDirty) ?? false,
      reason: try fields.decodeIfPresent(String.self, forKey: .reason),
      run: try fields.decode(String.self, forKey: .run))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(at, forKey: .at)
    try fields.encode(by, forKey: .by)
    try fields.encodeIfPresent(commit, forKey: .commit)
    if isDirty { try fields.encode(true, forKey: .isDirty) }
    try fields.encodeIfPresent(reason, forKey: .reason)
    try fields.encode(run, forKey: .run)
  }
}

extension Baseline {
  enum CodingKeys: String, CodingKey {
    case scenario, environment, fingerprint, definition, metrics, units, program, composition, treeMethod
    case anchors
    case approval = "approved"
  }
}

extension Note: Remark {}
extension RunNote: Remark {}
extension RecordingNote: Remark {}

// Used by the synthesised coding.

extension KeyedDecodingContainer {
  /// Unknown metrics are ignored.
  func decode(_ type: [MetricName: Anchor].Type, forKey key: Key) throws -> [MetricName: Anchor] {
    guard try contains(key) && !decodeNil(forKey: key) else { return [:] }
    let fields = try nestedContainer(keyedBy: MetricName.self, forKey: key)
    return try fields.allKeys.filter { MetricName(parsing: $0.text) != nil }.reduce(into: [:]) { anchors, metric in
      anchors[metric] = try fields.decode(Anchor.self, forKey: metric)
    }
  }

  /// If missing, trees are sums, as in the first version.
  func decode(_ type: TreeMethod.Type, forKey key: Key) throws -> TreeMethod {
    try decodeIfPresent(TreeMethod.self, forKey: key) ?? .upperBound
  }
}

extension KeyedEncodingContainer {
  mutating func encode(_ method: TreeMethod, forKey key: Key) throws {
    if method != .upperBound { try encode(method.rawValue, forKey: key) }
  }

  mutating func encode(_ anchors: [MetricName: Anchor], forKey key: Key) throws {
    if anchors.isEmpty { return }
    var fields = nestedContainer(keyedBy: MetricName.self, forKey: key)
    for (metric, anchor) in anchors { try fields.encode(anchor, forKey: metric) }
  }
}

// MARK: - Metrics

extension ValueSummary: Codable {
  private enum CodingKeys: CodingKey {
    case median, count, low, high
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      median: try fields.decode(Double.self, forKey: .median), count: try fields.decode(Int.self, forKey: .count))
    guard let low = try fields.decodeIfPresent(Double.self, forKey: .low),
      let high = try fields.decodeIfPresent(Double.self, forKey: .high)
    else { return }
    guard low <= high else { throw fields.corrupted(.high, "is below `low`") }
    range = low...high
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(median, forKey: .median)
    try fields.encode(count, forKey: .count)
    try fields.encodeIfPresent(range?.lowerBound, forKey: .low)
    try fields.encodeIfPresent(range?.upperBound, forKey: .high)
  }

  fileprivate func map(_ convert: (Double) -> Double) -> ValueSummary? {
    guard median.isFinite else { return nil }
    return ValueSummary(
      median: convert(median), count: count,
      range: range.map { convert($0.lowerBound)...convert($0.upperBound) })
  }
}

extension MetricResult.Change: Codable {
  private enum CodingKeys: CodingKey {
    case absolute, percent, low, high, shift
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys) throws -> Double? { try fields.decodeIfPresent(Double.self, forKey: key) }
    let absolute = try fields.decode(Double.self, forKey: .absolute)
    self.init(
      absolute: absolute, percent: try number(.percent), low: try number(.low) ?? absolute,
      high: try number(.high) ?? absolute, shift: try number(.shift))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(absolute, forKey: .absolute)
    try fields.encodeIfPresent(percent?.finite, forKey: .percent)
    try fields.encodeIfPresent(low.finite, forKey: .low)
    try fields.encodeIfPresent(high.finite, forKey: .high)
    try fields.encodeIfPresent(shift.finite, forKey: .shift)
  }

  /// Percentages have two decimals.
  fileprivate func map(_ convert: (Double) -> Double) -> Self? {
    guard absolute.isFinite else { return nil }
    let hundredths = percent.map { ($0 * 100).rounded() / 100 }
    return Self(
      absolute: convert(absolute), percent: hundredths, low: convert(low), high: convert(high), shift: convert(shift))
  }
}

extension Double {
  fileprivate var finite: Double? { isFinite ? self : nil }
}

extension MetricResult: Codable {
  private enum CodingKeys: String, CodingKey {
    case metric = "name"
    case unit, verdict
    case severity = "on"
    case reason
    case isUndecided = "undecided"
    case baseline, current, change, tolerance, detectable, resolution, method, chance
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys) throws -> Double? {
      let number = try fields.decodeIfPresent(Double.self, forKey: key)
      if let number, number < 0 { throw fields.corrupted(key, "is negative") }
      return number
    }
    let metric = try fields.decode(MetricName.self, forKey: .metric)
    let severity = try fields.decodeIfPresent(GateRule.Severity.self, forKey: .severity) ?? .fail
    let bounds = try fields.decodeIfPresent(RuleBounds.self, forKey: .tolerance)
    self.init(
      rule: bounds?.rule(metric, severity) ?? GateRule(metric: metric, tolerance: nil, severity: severity),
      unit: try fields.decodeIfPresent(String.self, forKey: .unit) ?? metric.unit(perIteration: false),
      verdict: try fields.decode(Verdict.self, forKey: .verdict),
      baseline: try fields.decodeIfPresent(ValueSummary.self, forKey: .baseline),
      current: try fields.decodeIfPresent(ValueSummary.self, forKey: .current),
      change: try fields.decodeIfPresent(Change.self, forKey: .change),
      detectable: try number(.detectable),
      resolution: try number(.resolution),
      method: try fields.decodeIfPresent(Method.self, forKey: .method),
      chance: try number(.chance),
      reason: try fields.decodeIfPresent(Known<VerdictReason>.self, forKey: .reason)?.value
    )
    allowed = bounds?.allowed
    isUndecided = try fields.decodeIfPresent(Bool.self, forKey: .isUndecided) ?? false
    if !unit.isEmpty, !MetricUnit.isValid(unit) {
      throw fields.corrupted(.unit, "is not a unit: `\(unit.prefix(80))`")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    func rounded(_ value: Double) -> Double { unit == "bytes" ? metric.rounded(value) : value }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(metric, forKey: .metric)
    try fields.encode(unit, forKey: .unit)
    try fields.encode(verdict, forKey: .verdict)
    try fields.encode(rule.severity, forKey: .severity)
    try fields.encodeIfPresent(reason, forKey: .reason)
    if isUndecided { try fields.encode(true, forKey: .isUndecided) }
    try fields.encodeIfPresent(baseline?.map(rounded), forKey: .baseline)
    try fields.encodeIfPresent(current?.map(rounded), forKey: .current)
    try fields.encodeIfPresent(change?.map(rounded), forKey: .change)
    try fields.encodeIfPresent(detectable?.finite.map(rounded), forKey: .detectable)
    try fields.encodeIfPresent(resolution?.finite.map(rounded), forKey: .resolution)
    try fields.encodeIfPresent(method, forKey: .method)
    // Rounded to a millionth, far below what any decision depends on.
    try fields.encodeIfPresent(chance.map { ($0 * 1e6).rounded() / 1e6 }, forKey: .chance)
    guard isGated || rule.tolerance != nil || rule.limit != nil else { return }
    try RuleBounds(rule, allowed: allowed?.finite.map(rounded)).encode(to: fields.superEncoder(forKey: .tolerance))
  }
}

// MARK: - Scenarios

extension ScenarioSummary: DecodableWithConfiguration, EncodableWithConfiguration {
  private enum CodingKeys: String, CodingKey {
    case name, tags, verdict, environment, repetitionCount, growthIsPerIteration, metrics, ungated, failedRepetitions
    case composition
    case approval = "approved"
    case explanation
  }

  package enum CompositionKeys: CodingKey {
    case current
  }

  /// Decodes a scenario of a run in this environment, which a scenario without its own has.
  ///
  /// A scenario without a verdict was compared with nothing.
  package init(from decoder: any Decoder, configuration environment: EnvironmentInfo) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(ScenarioName.self, forKey: .name),
      tags: try fields.decodeIfPresent([String].self, forKey: .tags) ?? [],
      verdict: try fields.decodeIfPresent(Verdict.self, forKey: .verdict) ?? .noBaseline,
      environment: try fields.decodeIfPresent(EnvironmentInfo.self, forKey: .environment) ?? environment,
      repetitionCount: try fields.decodeCountIfPresent(forKey: .repetitionCount) ?? 0,
      growthIsPerIteration: try fields.decodeIfPresent(Bool.self, forKey: .growthIsPerIteration) ?? false,
      metrics: try fields.decodeIfPresent([MetricResult].self, forKey: .metrics) ?? [],
      ungated: try fields.decodeIfPresent([MetricResult].self, forKey: .ungated) ?? [],
      failedRepetitions: try fields.decodeIfPresent([FailedRepetition].self, forKey: .failedRepetitions) ?? [],
      approval: try fields.decodeIfPresent(Approval.self, forKey: .approval),
      explanation: try fields.decodeIfPresent(Known<RiseExplanation>.self, forKey: .explanation)?.value
    )
    guard try fields.contains(.composition) && !fields.decodeNil(forKey: .composition) else { return }
    composition = try fields.nestedContainer(keyedBy: CompositionKeys.self, forKey: .composition)
      .decodeComposition(forKey: .current)
  }

  /// Encodes a scenario of a run in this environment, which is not repeated; nil encodes every environment.
  package func encode(to encoder: any Encoder, configuration ofRun: EnvironmentInfo?) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    if !tags.isEmpty { try fields.encode(tags, forKey: .tags) }
    try fields.encode(verdict, forKey: .verdict)
    if environment != ofRun { try fields.encode(environment, forKey: .environment) }
    try fields.encode(repetitionCount, forKey: .repetitionCount)
    if growthIsPerIteration { try fields.encode(true, forKey: .growthIsPerIteration) }
    try fields.encode(metrics, forKey: .metrics)
    try fields.encode(ungated, forKey: .ungated)
    if !failedRepetitions.isEmpty { try fields.encode(failedRepetitions, forKey: .failedRepetitions) }
    try fields.encodeIfPresent(approval, forKey: .approval)
    try fields.encodeIfPresent(explanation, forKey: .explanation)
    guard let composition else { return }
    var compositions = fields.nestedContainer(keyedBy: CompositionKeys.self, forKey: .composition)
    try compositions.encode(composition, forKey: .current)
  }
}

extension KeyedDecodingContainer {
  /// Also nil for an object without any size.
  package func decodeComposition(forKey key: Key) throws -> Composition? {
    let composition = try decodeIfPresent(Composition.self, forKey: key)
    return composition == Composition(anonymous: .zero, file: .zero, shared: .zero) ? nil : composition
  }
}
