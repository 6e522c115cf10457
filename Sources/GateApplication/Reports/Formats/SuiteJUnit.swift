import GateCore

/// The `testsuite` of a suite in JUnit XML: one test case for each test, with its figures as properties.
enum SuiteJUnit {
  static func element(_ result: SuiteResult) -> XMLElement {
    let problems = result.problems.map { problem in
      let text = TerminalText.safe(problem.displayText)
      return XMLElement(
        "testcase", [("classname", Tool.name), ("name", TerminalText.safe(result.name.text))],
        [XMLElement("error", [("message", text), ("type", result.verdict.rawValue)])])
    }
    return XMLElement(
      "testsuite", [("name", TerminalText.safe(result.name.text))] + counts(of: result),
      problems + result.tests.map { testCase($0, of: result) })
  }

  private static func counts(of result: SuiteResult) -> [(String, String)] {
    func count(_ name: String) -> Int { result.tests.count { $0.verdict.junitElement == name } }
    return [
      ("tests", "\(result.tests.count + result.problems.count)"), ("failures", "\(count("failure"))"),
      ("errors", "\(count("error") + result.problems.count)"),
    ]
  }

  private static func testCase(_ test: TestResult, of result: SuiteResult) -> XMLElement {
    let place = [("file", test.test.file), ("line", test.test.line.map(String.init))]
    let attributes =
      [
        ("classname", TerminalText.safe(result.name.text)), ("name", TerminalText.safe(test.test.name)),
        ("time", Decimals.text(test.run.duration.inSeconds, places: 3)),
      ] + place.compactMap { name, value in value.map { (name, TerminalText.safe($0)) } }
    let outcome = test.verdict.junitElement.map { name in
      XMLElement(
        name, [("message", test.reason?.displayText ?? test.verdict.rawValue), ("type", test.verdict.rawValue)])
    }
    return XMLElement("testcase", attributes, [properties(of: test), outcome].compactMap(\.self))
  }

  /// In bytes.
  private static func properties(of test: TestResult) -> XMLElement? {
    guard let figures = test.run.figures else { return nil }
    let metrics = TestMetric.allCases.filter { $0 != .objects || figures.objects != nil }
    let values = metrics.flatMap { metric -> [(String, Bytes)] in
      let approved = test.baseline.map { [("\(metric.rawValue).baseline", $0.figures[metric])] } ?? []
      return [(metric.rawValue, figures[metric])] + approved
    }
    return XMLElement(
      "properties", [], values.map { XMLElement("property", [("name", $0), ("value", "\($1.count)")]) })
  }
}
