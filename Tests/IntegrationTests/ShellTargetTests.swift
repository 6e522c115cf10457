import Testing

@Suite("Targets that a shell starts", .endsHangs)
struct ShellTargetTests {
  @Test("The program behind a shell is judged, without a gate")
  func program() throws {
    let project = try TemporaryProject(Self.file(30_000_000))
    #expect(try Highwater.run("check", in: project).code == 5)
    let approved = try Highwater.run("approve", in: project)
    #expect(approved.code == 0, "\(approved.output)\(approved.errors)")
    try project.write(Self.file(36_000_000), to: "highwater.yml")
    let risen = try Highwater.run("check", in: project)
    #expect(risen.code == 1, "\(risen.output)\(risen.errors)")
    #expect(risen.output.contains("peak_rss") && risen.output.contains("tree_peak"))
  }

  /// A shell with a child that holds memory for a third of a second.
  private static func file(_ bytes: Int) -> String {
    """
    version: 1
    scenarios:
      - name: piped
        target:
          shell: "{ head -c \(bytes) /dev/zero; sleep 0.3; } | tail -c \(bytes) > /dev/null; :"
        repetitions: 5
        warmup: 0
    """
  }
}
