import FoundationEssentials
import GateCore

/// The calls of a profile as data for `flame.js`, which draws them.
struct FlameGraph {
  private let comparison: ProfileComparison
  private let selection: (shown: [ProfileComparison.Call], leftOut: Int, hold: Int64)

  /// More calls would make the page slow to load; those that hold least are left out.
  static let mostCalls = 50_000
  /// Amounts are in KiB, rounded.
  private static let leastAmount = 512

  init(_ comparison: ProfileComparison) {
    (self.comparison, selection) = (comparison, Self.selection(of: comparison.calls))
  }

  /// What the graph does not show; nil if that is next to nothing.
  var leftOut: String? {
    guard selection.leftOut > 0, selection.hold >= 1024 else { return nil }
    let calls = "\(Format.count(selection.leftOut, "call")) with \(Format.amount(Bytes(selection.hold))) in all"
    return "the graph and its search leave out those that hold least: \(calls)"
  }

  /// A JSON object: `functions` with texts, and `calls` as numbers in KiB, one after the other: the caller's number from 1
  /// (0 for none), the function's index, live blocks and touched pages now, and both before.
  var data: String {
    let calls = selection.shown
    let functions = Array(Set(calls.map(\.function))).sorted()
    let indexes = Dictionary(uniqueKeysWithValues: zip(functions, functions.indices))
    let roles = Dictionary(calls.map { ($0.function, $0.role) }, uniquingKeysWith: { first, _ in first })
    let document = Document(
      isCompared: comparison.before != nil,
      functions: functions.map { [$0.displayText, TerminalText.safe($0.module), (roles[$0] ?? .own).kind] },
      calls: calls.flatMap { call in
        [call.parent.map { $0 + 1 } ?? 0, indexes[call.function] ?? 0] + Self.amounts(call)
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(document)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private struct Document: Encodable {
    let isCompared: Bool
    let functions: [[String]]
    let calls: [Int]
  }

  private static func amounts(_ call: ProfileComparison.Call) -> [Int] {
    [call.now.live, call.now.touched, call.before.live, call.before.touched].map { Int(($0 + 512) / 1024) }
  }

  /// The calls that hold most, callers first; a caller holds at least as much as its callee.
  ///
  /// - Returns: How many calls are left out as well, and what they hold, in bytes.
  private static func selection(
    of calls: [ProfileComparison.Call]
  ) -> (shown: [ProfileComparison.Call], leftOut: Int, hold: Int64) {
    let sizes = calls.map { max($0.now.live + $0.now.touched, $0.before.live + $0.before.touched) }
    let order = sizes.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }
    let chosen = Set(order.prefix(mostCalls).prefix { sizes[$0] >= leastAmount })
    var places: [Int?] = []
    var shown: [ProfileComparison.Call] = []
    var hold: Int64 = 0
    for (index, call) in calls.enumerated() {
      let parent = call.parent.flatMap { places[$0] }
      let hasPlace = call.parent == nil || parent != nil
      let isShown = hasPlace && chosen.contains(index)
      places.append(isShown ? shown.count : nil)
      if hasPlace && !isShown { hold += call.now.live + call.now.touched }
      guard isShown else { continue }
      var kept = call
      kept.parent = parent
      shown.append(kept)
    }
    return (shown, calls.count - shown.count, hold)
  }
}

extension FunctionRole {
  /// The kind of box.
  fileprivate var kind: String {
    switch self {
    case .own, .entry: "own"
    case .allocator, .system, .runtime, .unknown: "system"
    }
  }
}

/// The explanation of one scenario on a page.
struct ExplainPart {
  let block: ExplainBlock

  private static let template = PageTemplate("explain-part")
  private static let style = TerminalStyle(width: 200)

  var text: String {
    let comparison = block.comparison
    var values: [String: Any] = [
      "headline": block.headline,
      "parts": HTMLTable(table: MemoryPartTable(comparison: comparison).table(Self.style)).text,
      "isCompared": comparison.before != nil,
      "functionsTitle": comparison.before == nil ? "Functions that hold most" : "Functions that changed most",
      "facts": [block.changesText.map { "by change: \($0)" }].compactMap(\.self) + block.facts,
    ]
    let functions = FunctionTable(comparison: comparison).table(Self.style)
    if !functions.rows.isEmpty { values["functions"] = HTMLTable(table: functions).text }
    if !comparison.calls.isEmpty {
      let graph = FlameGraph(comparison)
      values["data"] = HTMLPage.harmless(graph.data)
      values["leftOut"] = graph.leftOut
    }
    return Self.template.render(values)
  }
}

/// The page of `explain`: for each scenario, what holds the memory at its peak, with a flame graph.
enum ExplainPage {
  private static let template = PageTemplate("explain")

  /// A whole HTML file.
  static func text(_ explanations: [Explanation]) -> String {
    let blocks = explanations.compactMap { explanation in
      explanation.comparison.map {
        ExplainBlock(explanation, $0)
      }
    }
    let names = blocks.map { TerminalText.safe($0.scenario.text) }
    let body = template.render([
      "scenarios": blocks.map { ["name": TerminalText.safe($0.scenario.text), "part": ExplainPart(block: $0).text] },
      "generator": "\(Tool.name) \(Tool.version)",
    ])
    return HTMLPage(
      title: "What holds the memory of \(names.joined(separator: ", "))",
      body: body,
      styles: ["page.css", "run.css", "flame.css"].map(PageText.named),
      scripts: ["charts.js", "flame.js"].map(PageText.named)
    ).text()
  }
}
