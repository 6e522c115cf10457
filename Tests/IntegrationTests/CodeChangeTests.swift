import Foundation
import Testing

/// Builds and profiles a real program; the rule by which a change is found is tested with values elsewhere.
@Suite("The commit behind a regression", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct CodeChangeTests {
  private static let source = """
    #include <stdlib.h>
    #include <string.h>
    #define OWN __attribute__((noinline)) static
    static char *volatile latest[16];
    OWN void remember(int number) {
      char *volatile *place = &latest[number % 16];
      free(*place);
      *place = memset(malloc(400), 1, 400);
    }
    OWN void handle(int number) { remember(number); }
    int main(void) {
      for (int at = 0; at < 8000; at++) handle(at);
      return 0;
    }

    """

  private func git(_ arguments: String..., in project: TemporaryProject) throws {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    let run = try Highwater.Running(identity + arguments, in: project, variables: [:], program: "/usr/bin/git")
    #expect(try run.wait().code == 0)
  }

  @Test("The line that a commit removed from a function on the stack is named, with the commit")
  func removedLine() throws {
    let project = try TemporaryProject(
      """
      version: 1
      history: off
      scenarios:
        - name: program
          target: {command: [./program]}
          repetitions: 2
          warmup: 0
          explain: always
          gate: {peak_rss: [3%, 512KiB]}
      """)
    try project.write(Self.source, to: "src/program.c")
    try project.write("program\n.highwater\n*.out\n*.err\n", to: ".gitignore")
    try git("init", "-q", "-b", "main", in: project)
    try git("add", ".", in: project)
    try git("commit", "-qm", "Begin", in: project)
    try compile(project)
    #expect(try Highwater.run("check", in: project).code == 5)
    #expect(try Highwater.run("approve", "--reason", "first", in: project).code == 0)
    // It takes the profile of the approved build.
    #expect(try Highwater.run("check", in: project).code == 0)

    try project.write(Self.source.replacing("  free(*place);\n", with: ""), to: "src/program.c")
    try git("commit", "-qam", "Keep all", in: project)
    try compile(project)
    let check = try Highwater.run("check", "--report", "agent=agent.txt", in: project)
    #expect(check.code == 1, "\(check.output)")
    let place = "by change: remember() at src/program.c:6 was changed since the approved commit"
    #expect(check.text.contains(place), "\(check.text)")
    #expect(check.text.contains(" Keep all (Ada)"), "\(check.text)")
    let agent = try project.read("agent.txt")
    #expect(agent.contains("\n  - free(*place);\n") && agent.contains(" Keep all (Ada)\n"), "\(agent)")
    #expect(agent.utf8.count <= 2048)
  }

  private func compile(_ project: TemporaryProject) throws {
    let words = ["-g", "-O1", "-o", "program", "src/program.c"]
    let run = try Highwater.Running(words, in: project, variables: [:], program: "/usr/bin/cc")
    #expect(try run.wait().code == 0)
  }
}
