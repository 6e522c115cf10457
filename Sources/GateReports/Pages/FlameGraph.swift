import FoundationEssentials
package import GateCore

/// The calls of a profile as data for `flame.js`, which draws them.
struct FlameGraph {
  let comparison: ProfileComparison

  /// More calls would make the page slow to load; those that hold least are left out.
  static let mostCalls = 50_000

  /// A JSON object: `functions` with texts, and `calls` as numbers in KiB, one after the other: the caller's number from 1
  /// (0 for none), the function's index, live blocks and touched pages now, and both before.
  var data: String {
    let (calls, functions) = (shownCalls, Array(Set(shownCalls.map(\.function))).sorted())
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
  private var shownCalls: [ProfileComparison.Call] {
    let calls = comparison.calls
    let sizes = calls.map { max($0.now.live + $0.now.touched, $0.before.live + $0.before.touched) }
    let least = sizes.count > Self.mostCalls ? sizes.sorted(by: >)[Self.mostCalls] + 1 : 512
    var places: [Int?] = []
    var shown: [ProfileComparison.Call] = []
    for (call, size) in zip(calls, sizes) {
      let parent = call.parent.flatMap { places[$0] }
      let isShown = size >= least && (call.parent == nil || parent != nil)
      places.append(isShown ? shown.count : nil)
      guard isShown else { continue }
      var kept = call
      kept.parent = parent
      shown.append(kept)
    }
    return shown
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
      "facts": block.facts,
    ]
    let functions = FunctionTable(comparison: comparison).table(Self.style)
    if !functions.rows.isEmpty { values["functions"] = HTMLTable(table: functions).text }
    if !comparison.calls.isEmpty { values["data"] = HTMLPage.harmless(FlameGraph(comparison: comparison).data) }
    return Self.template.render(values)
  }
}

/// The page of `explain`: for each scenario, what holds the memory at its peak, with a flame graph.
package enum ExplainPage {
  private static let template = PageTemplate("explain")

  /// A whole HTML file.
  package static func text(_ explanations: [Explanation]) -> String {
    let blocks = explanations.compactMap { explanation in
      explanation.comparison.map {
        ExplainBlock(scenario: explanation.scenario, comparison: $0, limits: explanation.limits)
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
