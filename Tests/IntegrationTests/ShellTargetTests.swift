import Testing

@Suite("A target below a shell", .timeLimit(.minutes(5)))
struct ShellTargetTests {
  /// What is told of a check whose target is a shell; its child holds 30 MB for half a second.
  private func told(gate: String) throws -> String {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: piped
          target:
            shell: "{ head -c 30000000 /dev/zero; sleep 0.5; } | tail -c 30000000 > /dev/null; :"
          repetitions: 2
          warmup: 0
          \(gate)
      """)
    let outcome = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let words = outcome.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    return words
  }

  @Test("That the memory is a child's and not judged is said")
  func note() throws {
    let words = "a child (`tail`) holds more memory than the main process (`sh`), which alone is judged"
    #expect(try told(gate: "").contains(words))
  }

  @Test("Where the gate looks at the tree there is nothing to say")
  func treeIsGated() throws {
    #expect(try !told(gate: "gate: {peak_rss: 3%, tree_peak: 3%}").contains("holds more memory"))
  }
}
