import GateCore

extension SuiteFramework {
  /// `cargo test` with the harness of Rust; tests in documentation are not among its programs.
  static let cargo = SuiteFramework(
    name: .cargo,
    isRun: { words in words.prefix(1).hasProgram("cargo") && words.contains("test") },
    method: .listed(
      ListedTests(
        discovery: { words, wrapper in
          // CARGO_TARGET_<triple>_RUNNER (doc.rust-lang.org/cargo/reference/config.html#targettriplerunner).
          let triples = ["X86_64", "AARCH64"].flatMap { cpu in ["GNU", "MUSL"].map { "\(cpu)_UNKNOWN_LINUX_\($0)" } }
          return .init(
            words: words,
            variables: Dictionary(uniqueKeysWithValues: triples.map { ("CARGO_TARGET_\($0)_RUNNER", wrapper) }))
        },
        listings: { _ in [["--list", "--format", "terse"]] },
        tests: { output, program in
          let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
          // text from outside: the test harness of Rust
          let names = lines.filter { $0.hasSuffix(": test") }.map { String($0.dropLast(": test".count)) }
          return program.tests(names) { ["--exact", $0] }
        }, omitted: ["--list", "--format", "terse", "--ignored"]))
  )
}
