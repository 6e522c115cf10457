import GateCore

/// Passing scenarios in one line each, with their main values.
struct PassingScenarios {
  private let scenarios: [ScenarioResult]
  /// How many others are only counted.
  private let rest: Int

  /// The maximum number of lines, and how many there are where they would be more.
  private static let (most, mostOfMany) = (100, 20)

  /// Of very many scenarios, those that have used most of what they may.
  init(_ scenarios: [ScenarioResult]) {
    guard scenarios.count > Self.most else {
      (self.scenarios, rest) = (scenarios, 0)
      return
    }
    let shares = scenarios.map { $0.metrics.compactMap(\.shareOfAllowed).max() ?? 0 }
    let nearest = scenarios.indices.sorted { (shares[$1], $0) < (shares[$0], $1) }.prefix(Self.mostOfMany)
    self.scenarios = nearest.sorted().map { scenarios[$0] }
    rest = scenarios.count - nearest.count
  }

  /// In the order of reports, but the least reproducible last.
  private static let shown: [(metric: MetricName, title: String)] = {
    let all = WholeRunMetric.allCases.compactMap { metric in
      MetricWords(of: metric, treeMethod: "").short.map { (metric: metric, title: $0) }
    }
    let uses = Set(all.map(\.metric.row.withoutRule)).sorted(by: >)
    return uses.flatMap { use in all.filter { $0.metric.row.withoutRule == use } }.map { ($0.metric.name, $0.title) }
  }()

  /// Values are left out before a name is cut to less than 40 columns, the peak and the nearest limit last.
  func write(to page: inout TerminalPage) {
    guard !scenarios.isEmpty else { return }
    let style = page.style
    let shown = Self.shown.filter { metric, _ in
      scenarios.contains { $0.metrics.contains { $0.metric == metric && $0.current != nil } }
    }
    let columns =
      shown.indices.map { $0 == 0 ? 1 : $0 + 2 }.flatMap { rank in
        [
          Table.Column(side: .left, gap: 3, rank: rank), Table.Column(gap: 1, rank: rank),
          Table.Column(gap: 1, rank: rank),
        ]
      } + [Table.Column(side: .left, gap: 3, rank: 2)]
    let rows = scenarios.map { scenario in
      [
        Table.Cell(scenario.verdict.heading(style), scenario.verdict.tone),
        .init(TerminalText.safe(scenario.name.text)),
      ] + shown.flatMap { metric, title in Self.cells(scenario.metrics.first { $0.metric == metric }, title) }
        + [.init(scenario.suite?.sizeText ?? Self.sight(of: scenario) ?? Self.nearestLimit(of: scenario), .faint)]
    }
    Table(
      columns: [.init(side: .left), .init(side: .left)] + columns, rows: rows, flexible: 1
    ).write(to: &page, indent: 0, limits: [40, 12])
    if rest > 0 {
      page.paragraph("and \(rest) others, further below their limits", indent: 0, tone: .faint)
    }
  }

  /// The rises that the check would have found, as in `would see +1.1 % peak, +520 B/iter`; nil without a baseline.
  private static func sight(of scenario: ScenarioResult) -> String? {
    let compared = scenario.metrics.filter { $0.detectable != nil && $0.rule.severity == .fail }
    guard let level = compared.first(where: { $0.metric == .peakRSS }) ?? compared.first(where: { !$0.metric.isRate })
    else { return nil }
    let growth = compared.first { $0.metric == .growth }.flatMap { growth in
      (scenario.hiddenGrowth?.upTo ?? growth.detectable).map {
        "+\(Format.plainAmount($0, unit: growth.unit))\(MetricUnit.shortSuffix(of: growth.unit))"
      }
    }
    let name = level.metric == .peakRSS ? "peak" : TerminalText.safe(level.metric.text)
    let share = level.detectable.map { detectable in
      Format.change(
        percent: level.baseline.flatMap { $0.median > 0 ? detectable / $0.median * 100 : nil }, absolute: detectable,
        unit: level.unit)
    }
    return "would see " + ([share.map { "\($0) \(name)" }, growth].compactMap(\.self).joined(separator: ", "))
  }

  /// The gated metric that has used most of its limit.
  private static func nearestLimit(of scenario: ScenarioResult) -> String {
    let shares = scenario.metrics.compactMap { metric in metric.shareOfAllowed.map { (metric.metric, $0) } }
    guard let (metric, share) = shares.max(by: { $0.1 < $1.1 }) else { return "" }
    return "\(TerminalText.safe(metric.text)) \(Int((share * 100).rounded()))\(Format.space)% of allowed"
  }

  private static func cells(_ metric: MetricResult?, _ title: String) -> [Table.Cell] {
    guard let metric, let current = metric.current else { return ["", "", ""] }
    let change = metric.change.map { change in
      // The difference of the medians says nothing then.
      if case .levels = metric.reason { return "two levels" }
      return Format.change(percent: change.percent, absolute: change.absolute, unit: metric.unit)
    }
    return [.init(title), .init(Format.amount(current.median, unit: metric.unit)), .init(change ?? "")]
  }
}

extension MetricResult {
  /// How much of the allowed rise, or else of the limit, the metric has used: 0 to 1 for one that passes.
  fileprivate var shareOfAllowed: Double? {
    guard isGated, let current else { return nil }
    if let allowed, let change { return allowed > 0 ? max(0, change.shift / allowed) : nil }
    return rule.limit.flatMap { $0.value > 0 ? max(0, current.median / $0.value) : nil }
  }
}
