import Foundation
import Testing

/// Runs both builds as real processes; the decisions are tested with scripted recordings elsewhere.
@Suite("Comparing two builds", .endsHangs)
struct ComparedBuildsTests {
  /// A project whose target holds 24 MiB, plus `EXTRA`, until it exits.
  private func project() throws -> TemporaryProject {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: load
          target: {command: [perl, hold.pl]}
          repetitions: 2
          warmup: 0
          gate: {peak_rss: [3%, 512KiB]}
      """)
    try project.write(
      """
      open my $order, '>>', 'order' or die; print $order ($ENV{EXTRA} // '-'), "\\n";
      my $text = 'x' x int(1048576 * (24 + ($ENV{EXTRA} // 0)));
      select undef, undef, undef, 0.08;
      """, to: "hold.pl")
    return project
  }

  @Test("Both builds run alternately, and a smaller comparison build shows a regression")
  func otherVariables() throws {
    let project = try project()
    let outcome = try Highwater.run("check", "--against", "EXTRA=-4", in: project)
    #expect(outcome.code == 1, "\(outcome.output)")
    #expect(outcome.text.contains("compared with the build `EXTRA=-4`"))
    #expect(try project.read("order").split(separator: "\n") == ["-4", "-", "-", "-4"])
    #expect(try project.baselines().isEmpty)
  }

  @Test("A comparison build that cannot be started fails the check and is named")
  func missingProgram() throws {
    let outcome = try Highwater.run("check", "--against", "no-such-program", in: try project())
    #expect(outcome.code == 3)
    #expect(outcome.text.contains("cannot execute `no-such-program`"), "\(outcome.output)")
  }
}
