import GateCore

/// The keys of `gate`, which are metrics, and those of a rule.
enum GateKeys {
  static let form = ValueForm<Gate>(
    .map([memoryMetrics: gated(tolerance), "^((value|instances)[.].+|allocations)$": gated(own)])
  ) {
    value, _, context in GateReader(context: context).gate(value)
  }

  private static func gated(_ tolerance: ValueShape) -> ValueShape {
    .any([tolerance, .words(["off"]), .mapping { rule }])
  }

  static let on = Key(
    "on", ValueForm<GateRule.Severity>.choice, "what a rise does", standard: "`fail`", example: "on: warn")

  static let exact = Key(
    "exact", .either("true", or: "false"), "whether fewer fail as well, for what is counted", standard: "`false`",
    example: "exact: true")

  /// The reader of a metric reads its tolerance and its limit, whose unit is that of the metric.
  static let rule = KeyTable(
    "rule", of: "a rule of `gate`",
    [
      KeyRow(
        name: "tolerance", meaning: "how far it may be above its baseline", standard: "`auto` without a `limit`",
        example: "tolerance: 3%", shape: own),
      KeyRow(
        name: "limit", meaning: "an upper bound that needs no baseline", standard: "none", example: "limit: 200MiB",
        shape: anyAmount),
      on.row, exact.row,
    ], example: "peak_rss: {tolerance: 3%}")

  private static let tolerance = tolerances(of: .size)
  /// A number of the target's own may also be a duration or a bare number, see ``Amount``.
  private static let own = tolerances(of: anyAmount)
  private static let anyAmount = ValueShape.any([.size, .duration, .count])

  private static func tolerances(of amount: ValueShape) -> ValueShape {
    .any([.words(["auto"]), .share, amount, .list(.any([.share, amount]), isShort: false)])
  }

  private static let kinds =
    "(tree_)?(peak|steady)_(\(MemoryKind.allCases.map(\.rawValue).joined(separator: "|")))"

  private static var memoryMetrics: String {
    let whole = MetricName.named.filter { !$0.takesNumbers }.map(\.text) + [kinds]
    let phase = MetricName.perPhase.map(\.text)
    return "^(\(whole.joined(separator: "|"))|phase[.].+[.](\(phase.joined(separator: "|"))))$"
  }
}
