import Foundation
import Testing

/// Runs real programs; the decisions are tested with scripted recordings elsewhere.
@Suite("The self-check of gates", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct SelfCheckTests {
  /// A server with two forked workers, behind a shell.
  private func project() throws -> TemporaryProject {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: workers
          target: {shell: "perl workers.pl; exit"}
          repetitions: 2
          warmup: 0
          gate: {peak_rss: 3%}
      """)
    try project.write(
      """
      my $text = 'x' x (24 << 20);
      for (1..2) { next if fork; select undef, undef, undef, 0.1; exit }
      wait; wait;
      """, to: "workers.pl")
    return project
  }

  @Test("Injected memory is found, and nothing if there is none; approve refuses the file")
  func injected() throws {
    let project = try project()
    let found = try Highwater.run("selfcheck", "--json", "found.json", in: project)
    #expect(found.code == 0, "\(found.output)\(found.errors)")
    #expect(found.text.contains(" injected: regression, peak_rss +3."), "\(found.text)")
    let leak = try Highwater.run("selfcheck", "--kind", "leak", "--kind", "arena", in: project)
    #expect(leak.code == 0 && leak.text.contains(" injected as a leak: regression"), "\(leak.text)")
    #expect(leak.text.contains("not injected, since the program creates no threads"), "\(leak.text)")
    let quiet = try Highwater.run("selfcheck", "--inject", "0", in: project)
    #expect(quiet.code == 0 && quiet.text.contains("nothing injected: pass"), "\(quiet.text)")
    let refused = try Highwater.run("approve", "--from", "found.json", in: project)
    #expect(refused.code == 2 && refused.errors.contains("`highwater.selfcheck/1`"))
  }

  @Test("A spike comes when the program is near its peak")
  func spike() throws {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: late
          target: {command: [perl, -e, "sleep 1; my $text = 'x' x (24 << 20); select undef, undef, undef, 0.3"]}
          repetitions: 2
          warmup: 0
          gate: {peak_rss: 3%}
      """)
    let found = try Highwater.run("selfcheck", "--kind", "spike", in: project)
    #expect(found.code == 0, "\(found.output)\(found.errors)")
    #expect(found.text.contains(" injected as a spike of 1 ms: regression"), "\(found.text)")
  }

  @Test(
    "A launcher that drops its rights, or enters a namespace, does so with the library; a static program is not known")
  func launchers() throws {
    let isRoot = getuid() == 0
    let launcher = isRoot ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "unshare --user --map-root-user"
    let project = try TemporaryProject(
      """
      version: 1
      defaults: {repetitions: 2, warmup: 0, gate: {peak_rss: 3%}}
      scenarios:
        - name: launched
          target: {shell: "exec \(launcher) perl hold.pl"}
        - name: static
          target: {command: [./static]}
      """)
    try project.write("my $text = 'x' x (24 << 20); select undef, undef, undef, 0.3", to: "hold.pl")
    try project.write("int main(void) { return 0; }", to: "static.c")
    #expect(try Highwater.shell("cc -static -o static static.c", in: project).code == 0)
    let found = try Highwater.run("selfcheck", "--kind", "leak", in: project)
    #expect(found.text.contains(" injected as a leak: regression"), "\(found.text)\(found.errors)")
    #expect(found.code == 4 && found.text.contains("since no process loads a library"), "\(found.text)")
  }
}
