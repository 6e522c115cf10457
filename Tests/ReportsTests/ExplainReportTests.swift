import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The report of explanations")
struct ExplainReportTests {
  private static let hostile = "evil\n::error::\u{1b}[31m\u{202e}<script>"

  /// A profile of a server with a leak of this size.
  private static func profile(leak: Int64, method: MemoryProfile.Method = .stopsAndBlocks) -> MemoryProfile {
    func function(_ name: String, _ module: String = "server") -> CallTree.Function {
      .init(module: module, name: name)
    }
    var calls = CallTree.Builder()
    let serve = [function("main"), function("serve(int, char**)"), function("handle_request", "libserver.so.2")]
    calls.add(.init(live: 3_400_000), stack: serve + [function("cache_put(Cache&, std::string const&)")])
    calls.add(
      .init(live: 200_000 + leak),
      stack: serve + [function("remember", "libserver.so.2"), function("malloc", "libc.so.6")])
    calls.add(.init(live: 90_000), stack: serve + [function(hostile, hostile)])
    calls.add(.init(touched: 4_194_304), stack: [function("main"), function("load_table")])
    calls.add(.init(touched: 65_536), stack: [.init(module: "", name: "setup", file: "/srv/app.py", line: 12)])
    let total = calls.tree.total
    let overhead = Int64(700_000) + leak / 40
    return MemoryProfile(
      process: "server", method: method, peak: Bytes(total.live + total.touched + 9_000_000),
      anonymous: Bytes(total.live + total.touched + overhead + 40_960), calls: calls.tree, heapOverhead: overhead,
      unattributed: [.noPageFault: Bytes(36_864), .profiler: Bytes(4096)], samplingInterval: .kibibytes(64))
  }

  static func comparison(leak: Int64, hasBefore: Bool = true) throws -> ProfileComparison {
    func summary(_ leak: Int64) throws -> ProfileSummary {
      try #require(ProfileSummary([-20_000, 0, 20_000].map { profile(leak: leak + $0) }))
    }
    return ProfileComparison(before: hasBefore ? try summary(20_000) : nil, now: try summary(leak))
  }

  @Test(
    "The function that explains a rise is named with its evidence, and the parts add up",
    arguments: [
      ("explain.txt", true, 80, true), ("explain-one.txt", false, 80, true), ("explain-narrow.txt", true, 40, false),
    ])
  func golden(name: String, hasBefore: Bool, width: Int, unicode: Bool) throws {
    let comparison = try Self.comparison(leak: 30_000_000, hasBefore: hasBefore)
    let text = ExplainReport.text(
      [Explanation(scenario: ScenarioName("requests"), comparison: comparison)],
      style: TerminalStyle(width: width, unicode: unicode))
    try Golden.expect(text, name)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
    #expect(!text.contains("\u{1b}") && !text.contains("\n::"))
  }

  @Test("Why no function is named is one sentence each")
  func findings() throws {
    var culprit = try #require(try Self.comparison(leak: 30_000_000).finding?.culprit)
    let change = culprit.change
    var called = change
    called.function = FunctionName(module: "_cache.so", name: "store")
    (called.file, called.line) = ("/src/cache.c", 7)
    called.callers = ["handle", "main"].map { FunctionName(module: "app.py", name: $0, isScript: true) }
    called.scripts = [.init(called.callers[0], line: 12)]
    culprit.change = called
    var (later, copied, whole, inner) = (culprit, culprit, culprit, culprit)
    (later.isReleasedLater, whole.share, inner.parts) = (true, 1, [change])
    whole.othersFell = .mebibytes(7)
    whole.processes = .init(before: 3, now: 4)
    var (overlap, former, instead) = (later, culprit, later)
    overlap.heldWith = change
    (former.formerRelease, instead.formerRelease, instead.laterRelease) = (called, called, change)
    copied.change.evidence = .copied
    let findings: [CulpritFinding] = [
      .named(culprit: culprit), .named(culprit: whole), .named(culprit: later), .named(culprit: overlap),
      .named(culprit: former), .named(culprit: instead),
      .named(culprit: copied), .named(culprit: inner), .noRise,
      .otherMethod(before: .stops, now: .stopsAndBlocks),
      .notReproduced, .mapped(rise: MappedRise(.files, rise: .mebibytes(9))),
      .mapped(
        rise: MappedRise(
          .shared, rise: .mebibytes(9),
          largest: [.init("/memfd:pool", rise: .mebibytes(8)), .init(Self.hostile, rise: .mebibytes(1))])),
      .belowNoise(largest: change, least: .mebibytes(40), isLikely: false),
      .belowNoise(largest: change, least: .mebibytes(40), isLikely: true),
      .belowNoise(largest: nil, least: .mebibytes(1), isLikely: false),
      .spread(largest: [change, change]), .other(part: .collectedHeap(.node), rise: .mebibytes(9)),
      .unsampledHeap(of: .node, rise: .mebibytes(9), reason: .notLoaded),
      .other(part: .heapOverhead, rise: .mebibytes(9)), .other(part: .heap, rise: .mebibytes(9)),
      .other(part: .unattributed(.noPageFault), rise: .mebibytes(9)), .ended(rise: .mebibytes(9)),
      .holding(largest: [change, called, change, called]),
    ]
    try Golden.expect(findings.map { "\($0.text(of: .peak))\n" }.joined(), "explain-findings.txt")
  }

  @Test("Of very many calls the flame graph shows 50,000, and the page says what it leaves out")
  func manyCalls() throws {
    let main = CallTree.Function(module: "server", name: "main")
    var calls = CallTree.Builder()
    for index in 0..<60_000 {
      calls.add(.init(touched: 4096), stack: [main, CallTree.Function(module: "server", name: "f\(index)")])
    }
    var profile = Self.profile(leak: 0)
    profile.calls = calls.tree
    let comparison = ProfileComparison(before: nil, now: try #require(ProfileSummary([profile])))
    let page = Self.page(of: comparison)
    #expect(page.contains("leave out those that hold least: 10001 calls with 39.1 MiB in all"))
    let data = try #require(page.split(separator: #"<script type="application/json">"#).last?.prefix { $0 != "<" })
    let graph = try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
    #expect((graph["calls"] as? [Int])?.count == 50_000 * 6)
    #expect(!Self.page(of: try Self.comparison(leak: 9)).contains("leave out"))
  }

  private static func page(of comparison: ProfileComparison) -> String {
    ExplainPage.text([Explanation(scenario: ScenarioName("requests"), comparison: comparison)])
      .replacing("\u{a0}", with: " ")
  }

  @Test("The page has the report's words and tables, and hostile names stay text")
  func page() throws {
    let page = ExplainPage.text([
      Explanation(scenario: ScenarioName("<b>requests"), comparison: try Self.comparison(leak: 30_000_000))
    ])
    #expect(page.contains("+28.6\u{a0}MiB held by remember() (libserver.so) ← handle_request"))
    #expect(page.contains("&lt;b&gt;requests"))
    #expect(!page.contains("<script>;") && !page.contains("\u{202e}") && !page.contains("\u{1b}"))
    #expect(page.components(separatedBy: "</script>").count == 4, "two scripts, and the data of one flame graph")
  }
}
