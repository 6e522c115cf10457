import FoundationEssentials
import GateCore

/// A run as JUnit XML, which GitLab, Jenkins, Azure Pipelines, Buildkite and others show as test results.
///
/// A test case is a scenario rather than a metric of it: it exists whatever happens to the scenario (a crashed target has
/// no metrics), so that these systems can tell what is new and what is fixed, and their counts are those of the summary.
enum JUnitReport {
  static let row = ReportFormatRow(
    purpose: "test results in GitLab, Jenkins, Azure Pipelines, CircleCI, Buildkite", fileExtension: "xml",
    hasOwnEscapes: false
  ) { result, context in
    text(result, context: context)
  }

  /// In columns; these systems show it in a window.
  private static let width = 100

  static func text(_ result: RunResult, context: SummaryContext) -> String {
    let cases = result.scenarios.map { testCase($0, in: result.run, context: context) }
    let outcomes = result.scenarios.compactMap(\.verdict.junitElement)
    func count(_ name: String) -> (String, String) { ("\(name)s", "\(outcomes.count { $0 == name })") }
    let time = ("time", seconds(result.run.duration))
    let counts = [("tests", "\(cases.count)"), count("failure"), count("error")]
    let timestamp = result.run.startedAt.formatted(.iso8601).dropLast()
    let suite = XMLElement(
      "testsuite",
      [("name", Tool.name)] + counts
        + [("skipped", "\(outcomes.count { $0 == "skipped" })"), time, ("timestamp", String(timestamp))],
      [properties(of: result)] + cases
    )
    let root = XMLElement(
      "testsuites", [("name", Tool.name)] + counts + [time],
      [suite] + result.scenarios.compactMap(\.suite).map(SuiteJUnit.element))
    return #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n" + root.text(indent: 0)
  }

  private static func testCase(_ scenario: ScenarioResult, in run: RunInfo, context: SummaryContext) -> XMLElement {
    let block = ScenarioBlock(scenario: scenario, context: context, notes: NoteList([scenario], detail: context.detail))
    let time = scenario.suite?.suiteTime ?? scenario.repetitions.map(\.duration).reduce(.zero, +)
    let moves = run.notes.filter { $0.movedScenario == scenario.name }.map {
      TerminalText.safe(ResultText.runNote($0)) + "\n"
    }
    let text = moves.joined() + block.text(width: width)
    let outcome = scenario.verdict.junitElement.map { name in
      XMLElement(
        name, [("message", scenario.message(in: context)), ("type", scenario.verdict.rawValue)],
        text: name == "skipped" ? "" : text)
    }
    return XMLElement(
      "testcase", [("classname", Tool.name), ("name", TerminalText.safe(scenario.name.text)), ("time", seconds(time))],
      [outcome ?? XMLElement("system-out", text: text)])
  }

  // MARK: Properties

  private static func properties(of result: RunResult) -> XMLElement {
    let run = result.run
    let known: [(String, String?)] = [
      ("version", Tool.version), ("verdict", result.verdict.rawValue),
      ("exit-code", "\(result.verdict.exitCode.rawValue)"), ("environment", result.environment.name), ("run", run.id),
      ("commit", run.commit), ("branch", run.branch),
      ("pull-request", run.pullRequest), ("build", run.buildURL),
      ("shard", run.shard.map { "\($0.index)/\($0.count)" }),
    ]
    let values = known.compactMap { name, value in value.map { (name, $0) } } + result.scenarios.flatMap(values)
    return XMLElement("properties", [], values.map { XMLElement("property", [("name", $0), ("value", $1)]) })
  }

  /// The judged values, as in `load/peak_rss` and `load/peak_rss.baseline`, in the metric's unit; the schema has no
  /// properties of a test case.
  private static func values(of scenario: ScenarioResult) -> [(String, String)] {
    scenario.metrics.flatMap { metric -> [(String, String)] in
      let name = TerminalText.safe("\(scenario.name)/\(metric.metric)")
      let values = [
        (name, metric.current?.median), ("\(name).baseline", metric.baseline?.median),
        ("\(name).allowed", metric.allowed), ("\(name).limit", metric.rule.limit?.value),
      ]
      return values.compactMap { name, value in value.map { (name, Decimals.short($0)) } }
    }
  }

  private static func seconds(_ duration: Duration) -> String {
    Decimals.text(duration.inSeconds, places: 3)
  }
}

extension Verdict {
  /// The element for what did not pass; a scenario that could not be judged is neither a failure nor a success.
  var junitElement: String? {
    switch self {
    case .pass, .improved: nil
    case .regression: "failure"
    case .failed, .inconclusive: "error"
    case .noBaseline, .skipped: "skipped"
    }
  }
}

/// An element of an XML document (XML 1.0) that has other elements or a text.
struct XMLElement {
  private let name: String
  private let attributes: [(String, String)]
  private let children: [XMLElement]
  private let content: String

  init(_ name: String, _ attributes: [(String, String)] = [], _ children: [XMLElement] = [], text: String = "") {
    (self.name, self.attributes, self.children, content) = (name, attributes, children, text)
  }

  func text(indent: Int) -> String {
    let margin = String(repeating: "  ", count: indent)
    let head = margin + "<" + name + attributes.map { " \($0)=\"\(Self.escaped($1))\"" }.joined()
    if children.isEmpty, content.isEmpty { return head + "/>\n" }
    let inner = children.map { $0.text(indent: indent + 1) }.joined()
    return head + ">" + (children.isEmpty ? Self.escaped(content) : "\n" + inner + margin) + "</\(name)>\n"
  }

  /// Without the characters that XML does not have: most control characters, U+FFFE and U+FFFF (section 2.2).
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "\"": result += "&quot;".unicodeScalars
      case "\n": result.append(scalar)
      case "\u{0}"..<" ", "\u{fffe}", "\u{ffff}": break
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
