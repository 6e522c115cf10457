import Testing

@Suite("Targets that a shell starts", .endsHangs)
struct ShellTargetTests {
  /// The output of a check whose target is a shell with a child that holds 30 MB for half a second.
  private func output(gate: String) throws -> String {
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
    let outcome = try Highwater.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let words = outcome.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    return words
  }

  @Test("A note names the child that holds the memory and is not judged")
  func note() throws {
    let words = "the child `tail` uses more memory than the main process `sh`, but only the main process is judged"
    #expect(try output(gate: "").contains(words))
  }
}
