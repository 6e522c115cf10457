import GateCore

extension SuiteFramework {
  /// A program with Catch2 (https://github.com/catchorg/Catch2/blob/devel/docs/command-line.md).
  static let catch2 = SuiteFramework(
    name: .catch2,
    isRun: { _ in false },
    method: .listed(
      ListedTests(
        discovery: nil,
        // The first of version 2, whose exit code is the number of tests; the second of version 3.
        listings: { _ in [["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]] },
        tests: { output, program in
          let text = String(decoding: output, as: UTF8.self)
          // text from outside: Catch2
          guard !text.contains("Error(s) in input:") else { return [] }
          let names = text.split(separator: "\n").map(String.init)
          return program.tests(names) { [escaped($0)] }
        }, listingExits: Array(0...255)))
  )

  /// A comma, brackets and quotes have a meaning in a choice of tests, as has `*` at an end and `~` or `exclude:` before.
  private static func escaped(_ name: String) -> String {
    name.map { "\\,[]\"*~".contains($0) ? "\\\($0)" : "\($0)" }.joined()
  }
}
