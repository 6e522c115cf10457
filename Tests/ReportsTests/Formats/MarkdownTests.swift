import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The Markdown report")
struct MarkdownTests {
  /// GitHub's renderer, with the extensions that GitHub uses and without its filter of HTML.
  private static let renderer = OutsideParser(
    command: ["cmark-gfm", "--unsafe"] + ["table", "autolink", "strikethrough", "tasklist"].flatMap { ["-e", $0] })

  /// Python's parser of HTML: elements, links, the cells of each row, and the text in code and outside of it.
  private static let page = OutsideParser.python(
    """
    import html.parser
    class Page(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.all = [], {"elements": [], "attributes": [], "links": [], "rows": [], "code": "", "text": ""}
        def handle_starttag(self, tag, attributes):
            self.all["elements"].append(tag)
            self.all["attributes"] += [name for name, _ in attributes]
            if tag == "a": self.all["links"].append(dict(attributes).get("href"))
            if tag == "tr": self.all["rows"].append(0)
            if tag in ("td", "th"): self.all["rows"][-1] += 1
            self.open.append(tag)
        def handle_endtag(self, tag):
            assert self.open.pop() == tag, tag
        def handle_data(self, data):
            self.all["code" if "code" in self.open else "text"] += data.replace("\\u00a0", " ")
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open
    print(json.dumps([page.all]))
    """)

  private func page(of markdown: String) throws -> [String: Any] {
    try Self.page.objects(reading: Self.renderer.output(reading: markdown))[0]
  }

  @Test("A run has its verdict, a table of what was judged, curves, commands, and all scenarios")
  func content() throws {
    let (result, context) = Fixture.manyVerdicts
    let markdown = MarkdownReport.text(result, context: context)
    let head = "<!-- highwater: ci/highwater.yml linux-x86_64-2cpu-sampled -->\n### ✗ regression: 1 of 9"
    #expect(markdown.hasPrefix(head))
    let page = try page(of: markdown)
    let (text, code) = (try #require(page["text"] as? String), try #require(page["code"] as? String))
    for name in result.scenarios.map(\.name.text) { #expect(code.contains(name), "\(name)") }
    for part in [
      "+1.3 MiB (+5.7 %)", "+675.8 KiB", "peak_rss rose by 1.3 MiB", "no-baseline", "by kind at the end:", "warning",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    for part in ["baseline", "23.3 MiB ┤", "highwater approve 'redis-load[clients=50]'", "Segmentation fault"] {
      #expect(code.contains(part), "\(part)")
    }
    #expect(page["links"] as? [String] == ["https://ci.example/builds/17"])
    #expect(Set(try #require(page["rows"] as? [Int])) == [6])
  }

  @Test("Names and texts of others add no markup, link, mention or reference")
  func attacks() throws {
    let (result, context) = Fixture.manyAttacks
    let markdown = MarkdownReport.text(result, context: context)
    let page = try page(of: markdown)
    let elements = Set(try #require(page["elements"] as? [String]))
    let own = ["h3", "p", "code", "a", "table", "thead", "tbody", "tr", "th", "td", "strong"]
    #expect(elements.subtracting(own + ["details", "summary", "pre", "ul", "li"]) == [])
    let attributes = Set(try #require(page["attributes"] as? [String]))
    #expect(attributes.subtracting(["align", "open", "lang", "class", "href"]) == [])
    #expect(page["links"] as? [String] == ["https://ci.example/%3Cscript%3E)%22)"])
    #expect(Set(try #require(page["rows"] as? [Int])) == [6])
    let text = try #require(page["text"] as? String)
    #expect(text.firstMatch(of: /[@#!~$][A-Za-z0-9]/) == nil, "\(text)")
    #expect(markdown.split(separator: "\n").first?.firstRange(of: "-->")?.upperBound == markdown.firstIndex(of: "\n"))
    let code = try #require(page["code"] as? String)
    #expect(code.contains("<script>alert(1)</script>") && code.contains(" \\| | `` ``` "))
  }

  @Test("It is never larger than a comment may be, and says what it leaves out")
  func size() throws {
    var scenario = Fixture.charted
    let scenarios = (0..<500).map { number -> ScenarioResult in
      scenario.name = ScenarioName("\(number) \(Fixture.manyAttacks.result.scenarios[0].name)")
      return scenario
    }
    let result = Fixture.result(scenarios)
    let markdown = MarkdownReport.text(result, context: SummaryContext(exitCode: .regression))
    #expect(markdown.utf8.count <= MarkdownReport.mostBytes && markdown.utf8.count > MarkdownReport.mostBytes / 2)
    let page = try page(of: markdown)
    let text = try #require(page["text"] as? String)
    #expect(text.contains("500 of 500 scenarios regressed"))
    #expect(text.contains(/details of [0-9]+ more scenarios are in the result file/))
    #expect(text.contains(/[0-9]+ more scenarios in the result file/))
  }

  @Test("A run that passed is short")
  func pass() throws {
    let result = Fixture.result([Fixture.passing("load"), Fixture.passing("save")])
    let markdown = MarkdownReport.text(result, context: SummaryContext(exitCode: .pass))
    #expect(markdown.replacing("\u{a0}", with: " ").contains("### ✓ pass: 2 scenarios pass\n"))
    #expect(!markdown.contains("What to do next") && !markdown.contains("<details open>"))
  }
}
