import GateCore

/// Reads `gate`.
struct GateReader {
  let context: ReadingContext

  func gate(_ value: YAMLValue) -> Gate? {
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: "gate", not: value, example: "gate: {peak_rss: 3%}")
      return nil
    }
    guard !entries.isEmpty else {
      context.printError("`gate` has no metrics", at: value.place, hint: "add a metric, or remove `gate`")
      return nil
    }
    var (rules, known): ([GateRule], Set<MetricName>) = ([], [])
    for entry in entries {
      guard let metric = metric(entry.key), let rule = rule(entry.value, for: metric) else { continue }
      checkSharedPages(rule, at: entry.value.place)
      if !known.insert(metric).inserted {
        context.printError("duplicate metric `\(metric)` in `gate`", at: entry.key.place)
      }
      rules.append(rule)
    }
    if !rules.isEmpty, rules.allSatisfy({ $0.severity == .off }) {
      context.printError(
        "`gate` judges nothing: every metric is off", at: value.place,
        hint: "it replaces the default gate, so name a metric to judge; `on: warn` reports without failing")
    }
    return Gate(rules: rules)
  }

  /// Reports phases that no step starts and whose names are probably misspelled.
  ///
  /// Other phases may be started by the target itself.
  func checkPhases(in value: YAMLValue, of scenario: Scenario) {
    let started = Set(scenario.steps.flatMap(\.phases))
    guard case .mapping(let entries) = value.content else { return }
    let judged = Set(scenario.gate.rules.filter { $0.severity != .off }.map(\.metric.text))
    for entry in entries where judged.contains(entry.key.text) {
      guard let metric = MetricName(parsing: entry.key.text), !metric.isPattern, let phase = metric.inPhase?.phase,
        !started.contains(phase),
        let meant = Self.phaseMeant(by: phase, among: started.sorted())
      else { continue }
      context.printError(
        "no step starts the phase `\(phase)`", at: entry.key.place, hint: "did you mean `\(meant)`?")
    }
  }

  /// Names that differ only in their digits, as in `load1` and `load2`, are different phases.
  private static func phaseMeant(by name: String, among started: [String]) -> String? {
    func withoutDigits(_ text: String) -> String { text.filter { !$0.isNumber } }
    let plain = withoutDigits(name)
    return NearMiss.closest(to: name, among: started.filter { withoutDigits($0) != plain })
  }

  private func metric(_ key: YAMLValue.Key) -> MetricName? {
    if let metric = MetricName(parsing: key.text) { return metric }
    let ofPhase = Shown.list(MetricName.perPhase.map { "phase.NAME.\($0)" })
    let all =
      key.text.hasPrefix("phase.")
      ? "the metrics of a phase are \(ofPhase)"
      : "the metrics are \(Shown.list(MetricName.named.map(\.text))), of a phase \(ofPhase), of a kind of memory "
        + "`peak_KIND`, `steady_KIND`, `tree_peak_KIND` and `tree_steady_KIND` with a KIND of "
        + "\(Shown.list(MemoryKind.allCases.map(\.rawValue))), `value.NAME` for "
        + "a value that the target reports as `value NAME NUMBER UNIT`, and `instances.CLASS` for a Swift class"
    context.printError(
      "unknown metric `\(Shown.text(key.text))`",
      at: key.place,
      hint: Self.nearest(to: key.text).map { "did you mean `\($0)`?" } ?? all
    )
    return nil
  }

  /// The metric that was probably meant, possibly of a phase.
  private static func nearest(to text: String) -> String? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 3, let last = parts.last else {
      return NearMiss.closest(to: text, among: MetricName.listed.map(\.text))
    }
    let phase = parts[1..<(parts.count - 1)].joined(separator: ".")
    let names = MetricName.perPhase.map(\.text)
    guard PlainName.isValid(phase),
      parts[0] == "phase" || NearMiss.closest(to: String(parts[0]), among: ["phase"]) != nil,
      let metric = names.first(where: { !last.isEmpty && $0.hasPrefix(last) })
        ?? NearMiss.closest(to: String(last), among: names)
    else { return nil }
    return "phase.\(phase).\(metric)"
  }

  private func rule(_ value: YAMLValue, for metric: MetricName) -> GateRule? {
    if value.isNull {
      context.printError("the metric `\(metric)` has no tolerance", at: value.place, hint: "such as `\(metric): 3%`")
      return nil
    }
    if case .mapping = value.content { return describedRule(value, for: metric) }
    if value.scalar == GateRule.Severity.off.rawValue {
      return GateRule(metric: metric, tolerance: .standard(of: metric), severity: .off)
    }
    return tolerance(value, as: metric.text, of: metric).map { GateRule(metric: metric, tolerance: $0) }
  }

  private func describedRule(_ value: YAMLValue, for metric: MetricName) -> GateRule? {
    guard let fields = Fields(value, of: GateKeys.rule, in: context) else { return nil }
    var rule = GateRule(metric: metric, tolerance: nil)
    if let value = fields["limit"] { rule.limit = amount(value, as: "limit", of: metric, example: "limit: 200MiB") }
    fields.take(GateKeys.on, into: &rule.severity)
    fields.take(GateKeys.exact, into: &rule.isExact)
    if fields["limit"] == nil { rule.tolerance = rule.isExact ? Self.exactly(metric) : .standard(of: metric) }
    checkExactness(of: rule, in: fields)
    if let tolerance = fields["tolerance"].flatMap({ tolerance($0, as: "tolerance", of: metric) }) {
      rule.tolerance = tolerance
    }
    if case .bounds(_, let absolute?) = rule.tolerance, let limit = rule.limit, !absolute.isLike(limit) {
      context.printError(
        "the limit and the tolerance of `\(metric)` are in different units", at: value.place,
        hint: "a metric has one unit: write both as sizes, both as durations, or both as bare numbers"
      )
    }
    return rule
  }

  /// Reports `auto` for what depends on other programs: a library that none of them maps any longer would be a regression.
  private func checkSharedPages(_ rule: GateRule, at place: SourcePlace) {
    guard KindMetric(rule.metric)?.dependsOnOthers == true, rule.tolerance == .automatic, rule.severity != .off else {
      return
    }
    context.printError(
      "`\(rule.metric)` has no `auto`: it depends on what else runs on the machine", at: place,
      hint: "write a tolerance or a limit that covers its shared libraries, such as `\(rule.metric): [10%, 8MiB]`")
  }

  private static func exactly(_ metric: MetricName) -> Tolerance {
    .bounds(relative: nil, absolute: metric.takesNumbers ? .number(0) : .size(.zero))
  }

  private func checkExactness(of rule: GateRule, in fields: Fields) {
    guard rule.isExact else { return }
    if !rule.metric.isCounted {
      context.printError(
        "`\(rule.metric)` cannot be exact: identical runs differ by a few pages", at: fields.place(of: "exact"),
        hint: "`exact` is for \(Shown.list(CountMetric.allCases.map(\.rawValue))) and `instances.CLASS`")
    } else if fields["tolerance"] != nil {
      context.printError(
        "an exact rule has no tolerance", at: fields.place(of: "tolerance"), hint: "remove `exact` or `tolerance`")
    }
  }

  /// `3%`, `512KiB`, `auto`, or a percentage and an amount in a list.
  private func tolerance(_ value: YAMLValue, as name: String, of metric: MetricName) -> Tolerance? {
    if value.scalar == "auto" { return .automatic }
    guard case .sequence(let items) = value.content else {
      return bound(value, as: name, of: metric).map { Tolerance.bounds(relative: $0.relative, absolute: $0.absolute) }
    }
    let bounds = items.compactMap { bound($0, as: name, of: metric) }
    guard bounds.count == items.count else { return nil }
    let (shares, amounts) = (bounds.compactMap(\.relative), bounds.compactMap(\.absolute))
    guard !bounds.isEmpty, shares.count <= 1, amounts.count <= 1 else {
      context.printError(
        "`\(name)` must have at most one percentage and one amount",
        at: value.place,
        hint: "such as `\(Self.example(name, of: metric))`"
      )
      return nil
    }
    return .bounds(relative: shares.first, absolute: amounts.first)
  }

  private static func example(_ name: String, of metric: MetricName) -> String {
    metric.takesNumbers ? "\(name): [3%, 10]" : "\(name): [3%, 512KiB]"
  }

  private func bound(
    _ value: YAMLValue,
    as name: String,
    of metric: MetricName
  ) -> (relative: Percent?, absolute: Amount?)? {
    let example = Self.example(name, of: metric)
    let amounts = metric.takesNumbers ? "a number, a size, a duration" : "a size"
    guard let text = value.scalar else {
      let kinds = metric.takesNumbers ? "a percentage, \(amounts)" : "a percentage or a size"
      context.expected(kinds, as: name, not: value, example: example)
      return nil
    }
    if text.hasSuffix("%") {
      return context.quantity(value, as: name, kind: "a percentage", example: example, Percent.init(parsing:))
        .map { (relative: $0, absolute: nil) }
    }
    guard metric.takesNumbers || Double(text) == nil else {
      context.printError(
        "the tolerance `\(Shown.text(text))` has no unit",
        at: value.place,
        hint: "write a percentage such as `3%`, a size such as `512KiB`, both as `[3%, 512KiB]`, or `auto`"
      )
      return nil
    }
    guard text.utf8.first.map({ (0x30...0x39).contains($0) }) ?? false else {
      context.expected("a percentage, \(amounts), `auto` or `off`", as: name, not: value, example: example)
      return nil
    }
    return amount(value, as: name, of: metric, example: example).map { (relative: nil, absolute: $0) }
  }

  /// A size; for a reported value also a duration, or a bare number in the target's own unit.
  private func amount(_ value: YAMLValue, as name: String, of metric: MetricName, example: String) -> Amount? {
    guard metric.takesNumbers else { return context.bytes(value, as: name, example: example).map(Amount.size) }
    let amount = context.quantity(
      value, as: name, kind: "a number, a size or a duration", example: "\(name): 1000", Amount.init(parsing:)
    )
    let unit = metric.unit(perIteration: false)
    guard let amount, metric.isCounted, !amount.fits(unit: unit) else { return amount }
    context.printError(
      "the \(name) `\(amount.spelled)` of `\(metric)` is not a number of \(unit)", at: value.place,
      hint: "such as `\(name): 50`")
    return nil
  }
}
