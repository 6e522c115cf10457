import GateCore

extension SuiteFramework {
  /// A program with GoogleTest (https://google.github.io/googletest/advanced.html#running-a-subset-of-the-tests).
  static let googleTest = SuiteFramework(
    name: .googletest,
    isRun: { _ in false },
    method: .listed(
      ListedTests(
        discovery: nil,
        listings: { _ in [["--gtest_list_tests"]] },
        tests: { output, program in
          program.tests(names(in: String(decoding: output, as: UTF8.self))) { ["--gtest_filter=\($0)"] }
        }))
  )

  /// A suite ends in a dot, and its tests are indented; both may have a comment with a parameter.
  private static func names(in list: String) -> [String] {
    var suite = ""
    return list.split(separator: "\n").compactMap { line in
      let name = line.prefix { $0 != "#" }.trimmed
      guard line.hasPrefix("  ") else {
        suite = name.hasSuffix(".") ? name : ""
        return nil
      }
      return suite.isEmpty || suite.hasPrefix("DISABLED_") || name.hasPrefix("DISABLED_") ? nil : suite + name
    }
  }
}

extension Substring {
  /// Without blanks at both ends.
  fileprivate var trimmed: String {
    let start = drop { $0 == " " }
    return String(start[..<(start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.startIndex)])
  }
}
