import Foundation
import Testing

/// Runs builds and targets as real processes; the searches are tested with scripted ones elsewhere.
@Suite("Bisecting commits", .endsHangs)
struct BisectTests {
  /// A repository of 13 commits: the build copies `size`, which is 20 MiB, and 24 from the eighth commit on.
  private func repository() throws -> TemporaryProject {
    let project = try TemporaryProject.holding(20)
    let text = try project.read("highwater.yml")
    try project.write(text.replacing("hold.pl, size", with: "hold.pl, built"), to: "highwater.yml")
    try project.write("built\nstarted\n*.out\n*.err\n.highwater\n", to: ".gitignore")
    let script = """
      export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=a@example.org
      git init -q -b main . && for number in $(seq 0 12); do
        if [ $number = 8 ]; then echo 24 > size; fi
        echo $number > number && git add -A . && git commit -qm "Commit $number"
      done
      """
    let run = try Highwater.shell(script, in: project)
    try #require(run.code == 0, "\(run.output)\(run.errors)")
    return project
  }

  /// The sixth commit does not build.
  private let arguments = [
    "bisect", "--good", "main~12", "--build", "echo built >> ../builds; test $(cat number) != 6 && cp size built",
  ]

  private func builds(of project: TemporaryProject) -> Int {
    ((try? project.read(".git/highwater/builds")) ?? "").split(separator: "\n").count
  }

  @Test("The guilty commit is found beside the checkout, which stays as it is; a broken commit is skipped")
  func guilty() throws {
    let project = try repository()
    try project.write("99", to: "size")
    let outcome = try Highwater.start(arguments, in: project).wait()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("first bad commit") && outcome.text.contains("Commit 8 Ada"), "\(outcome.output)")
    #expect(try project.read("size") == "99" && project.starts == 0 && project.baselines().isEmpty)
    let builds = builds(of: project)
    #expect(builds <= 7, "\(builds) builds")
    let again = try Highwater.start(arguments, in: project).wait()
    #expect(again.text.contains("first bad commit") && again.code == 0)
    #expect(self.builds(of: project) == builds)
  }

  @Test("Stopped or killed on its way, the same command finishes the search", arguments: [SIGINT, SIGKILL])
  func interrupted(signal: Int32) throws {
    let project = try repository()
    for count in [1, 4] {
      let running = try Highwater.start(arguments, in: project)
      while running.process.isRunning, builds(of: project) < count { usleep(10_000) }
      running.send(signal)
      let code = try running.wait().code
      #expect(code == (signal == SIGINT ? 130 : -SIGKILL))
    }
    let outcome = try Highwater.start(arguments, in: project).wait()
    #expect(outcome.code == 0 && outcome.text.contains("Commit 8 Ada"), "\(outcome.output)\(outcome.errors)")
    #expect(builds(of: project) <= 9)
  }
}
