import GateCore

extension SuiteFramework {
  /// `ctest`, whose tests are commands: each runs as ctest would start it.
  static let ctest = SuiteFramework(
    name: .ctest,
    isRun: { words in words.prefix(1).hasProgram("ctest") },
    method: .listed(
      ListedTests(
        discovery: nil, listings: { _ in [["--show-only=json-v1"]] },
        tests: { output, program in
          let list = try? JSON.decodeForeign(output, path: "", hint: "")
          return list?["tests"]?.list?.compactMap { test(of: $0, in: program) } ?? []
        }))
  )

  /// nil for a test that is disabled, or whose program is not built.
  private static func test(of entry: JSONValue, in list: TestProgram) -> ListedTest? {
    guard let name = entry["name"]?.text, let words = entry["command"]?.list?.compactMap(\.text), !words.isEmpty else {
      return nil
    }
    let properties = (entry["properties"]?.list ?? []).reduce(into: [String: JSONValue]()) { all, property in
      if let name = property["name"]?.text { all[name] = property["value"] }
    }
    guard properties["DISABLED"] == nil else { return nil }
    var program = TestProgram(words: words, folder: properties["WORKING_DIRECTORY"]?.text ?? list.folder)
    for assignment in properties["ENVIRONMENT"]?.list?.compactMap(\.text) ?? [] {
      let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if parts.count == 2 { program.variables[parts[0]] = parts[1] }
    }
    let skip = properties["SKIP_RETURN_CODE"]?.number.map { [Int($0)] } ?? []
    let exits = properties["WILL_FAIL"] == nil ? [0] : Array(1...255)
    return ListedTest(name: name, program: program, exits: exits + skip)
  }
}
