import GateCore

extension SuiteFramework {
  /// `node --test`, which runs each file in a process of its own, also behind `npm test`.
  static let node = SuiteFramework(
    name: .node,
    isRun: { words in words.prefix(1).hasProgram("node", "npm", "npx", "yarn", "pnpm") },
    method: .reported(
      ReportedTests(
        plugin: "highwater_node.mjs",
        variables: { folder, set in
          // By default malloc keeps ever larger blocks for later ones (mallopt(3)), which only malloc_trim(3) returns.
          let thresholds = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"].map { ($0, set[$0] ?? "131072") }
          return [
            "NODE_OPTIONS": list(set["NODE_OPTIONS"], "--import=file://\(folder)/highwater_node.mjs", by: " ")
          ].merging(thresholds) { $1 }
        },
        selection: { words, tests in
          // The plugin ends files without a chosen test. In a file, Node runs the tests whose names fit.
          guard let place = words.firstIndex(of: "--test") else { return words }
          let patterns = tests.map { test in
            let name = test.split(separator: " > ").last.map(String.init) ?? test
            return "--test-name-pattern=^\(name.map { $0.isLetter || $0.isNumber ? "\($0)" : "." }.joined())$"
          }
          return words[...place] + patterns + words[(place + 1)...]
        })))
}
