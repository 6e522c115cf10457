import GateCore

extension SuiteFramework {
  /// `go test`, whose programs are built once and then run for each test.
  static let go = SuiteFramework(
    name: .go,
    isRun: { words in words.prefix(1).hasProgram("go") && words.dropFirst().first == "test" },
    method: .listed(
      ListedTests(
        discovery: { words, wrapper in
          // Results from the cache would start no program.
          .init(words: Array(words.prefix(2)) + ["-count=1", "-exec", wrapper] + words.dropFirst(2))
        },
        listings: { words in
          let chosen = words.compactMap { $0.hasPrefix("-test.run=") ? String($0.dropFirst("-test.run=".count)) : nil }
          return [["-test.list", chosen.last ?? "."]]
        },
        tests: { output, program in
          let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
          let names = lines.filter { line in ["Test", "Example", "Fuzz"].contains { line.hasPrefix($0) } }
          return program.tests(names) { ["-test.run", "^\($0)$"] }
        },
        variables: { set in
          // How much garbage is made while the collector works beside the program is chance: a test that needs 12 MiB took 13
          // to 24 (2026-11). Of two values of a setting the last one counts: that of the user.
          ["GODEBUG": list("gcstoptheworld=1", set["GODEBUG"], by: ",")]
        }))
  )
}
