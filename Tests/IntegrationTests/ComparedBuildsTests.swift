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

  /// A repository of two commits: the build copies `size` to `built`, and the target holds so many MiB.
  private func repository() throws -> TemporaryProject {
    let project = try TemporaryProject.holding(20)
    func git(_ arguments: String...) throws {
      let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
      let run = try Highwater.Running(identity + arguments, in: project, variables: [:], program: "/usr/bin/git")
      #expect(try run.wait().code == 0)
    }
    let text = try project.read("highwater.yml")
    try project.write(text.replacing("hold.pl, size", with: "hold.pl, built"), to: "highwater.yml")
    try project.write("built\nstarted\n*.out\n*.err\n", to: ".gitignore")
    try git("init", "-q", "-b", "main")
    for size in [20, 24] {
      try project.hold(size)
      try git("add", ".")
      try git("commit", "-qm", "hold \(size) MiB")
    }
    try project.write("24", to: "built")
    return project
  }

  @Test("Another commit is built in a worktree once, and the checkout stays as it is")
  func otherCommit() throws {
    let project = try repository()
    let check = ["check", "--against-ref", "main~1", "--build", "cp size built; echo built >> builds"]
    for turn in 1...2 {
      let outcome = try Highwater.start(check, in: project).wait()
      #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
      #expect(outcome.text.contains("metric main~1 this change"), "\(outcome.output)")
      #expect(outcome.text.contains("peak_rss rose by 4.0 MiB"), "\(outcome.output)")
      #expect(outcome.errors.contains("building main~1") == (turn == 1))
    }
    #expect(try project.read(".git/highwater/worktree/builds") == "built\n")
    #expect(try project.read("size") == "24" && project.read("built") == "24")
    let same = try Highwater.run("check", "--against-ref", "HEAD", "--build", "cp size built", in: project)
    #expect(same.code == 0, "\(same.output)")
  }

  @Test(
    "A kept worktree is built again if a scenario changed its files, or if it was removed",
    arguments: [
      "echo 24 > size; cp size built", "rm -rf ../worktree", "rm .git", "git worktree remove --force .",
      "printf 24 > built", "rm built", "printf 24 > new; mv new built",
    ])
  func changedWorktree(change: String) throws {
    let project = try repository()
    let check = ["check", "--against-ref", "main~1", "--build", "cp size built"]
    #expect(try Highwater.start(check, in: project).wait().code == 1)
    let worktree = project.url(".git/highwater/worktree").path
    let changed = try Highwater.Running(
      ["-c", "cd '\(worktree)' && { \(change); }"], in: project, variables: [:], program: "/bin/sh")
    #expect(try changed.wait().code == 0)
    let outcome = try Highwater.start(check, in: project).wait()
    #expect(outcome.code == 1 && outcome.errors.contains("building main~1"), "\(outcome.output)\(outcome.errors)")
    #expect(try project.read(".git/highwater/worktree/size") == "20")
    #expect(try project.read(".git/highwater/worktree/built") == "20")
  }

  @Test("A file that a scenario wrote into the kept worktree does not belong to the commit")
  func newFile() throws {
    let project = try repository()
    let check = ["check", "--against-ref", "main~1", "--build", "cp size built"]
    let text = try project.read("highwater.yml")
    let target = "{shell: 'exec perl hold.pl $(ls extra || echo built)'}"
    try project.write(text.replacing("{command: [perl, hold.pl, built]}", with: target), to: "highwater.yml")
    for _ in 1...2 {
      let outcome = try Highwater.start(check, in: project).wait()
      #expect(outcome.code == 1 && outcome.text.contains("peak_rss rose by 4.0 MiB"), "\(outcome.output)")
      try project.write("24", to: ".git/highwater/worktree/extra")
    }
  }

  @Test("What a failed build leaves is no part of the next one")
  func failedBuild() throws {
    let project = try repository()
    func check(_ build: String) throws -> Highwater.Outcome {
      try Highwater.start(["check", "--against-ref", "main~1", "--build", build], in: project).wait()
    }
    #expect(try check("echo 24 > built; false").code == 2)
    let next = try check("test -e built || cp size built")
    #expect(next.code == 1 && next.text.contains("peak_rss rose by 4.0 MiB"), "\(next.output)\(next.errors)")
  }

  @Test("A copy of the repository does not use the worktree of the original")
  func copiedRepository() throws {
    let project = try repository()
    let check = ["check", "--against-ref", "main~1", "--build", "cp size built"]
    #expect(try Highwater.start(check, in: project).wait().code == 1)
    let copy = try TemporaryProject("")
    for name in try FileManager.default.contentsOfDirectory(atPath: project.url(".").path) {
      try? FileManager.default.removeItem(at: copy.url(name))
      try FileManager.default.copyItem(at: project.url(name), to: copy.url(name))
    }
    let same = try Highwater.run("check", "--against-ref", "HEAD", "--build", "cp size built", in: copy)
    #expect(same.code == 0, "\(same.output)\(same.errors)")
    #expect(try project.read(".git/highwater/worktree/size") == "20")
  }

  @Test("Checks of one repository at the same time compare with their own commits")
  func simultaneousChecks() throws {
    let project = try repository()
    let build = ["--build", "cp size built; sleep 0.5"]
    let checks = try [("HEAD", "one"), ("main~1", "two"), ("HEAD", "three")].map { revision, artifacts in
      try Highwater.start(["check", "--against-ref", revision, "--artifacts", artifacts] + build, in: project)
    }
    let outcomes = try checks.map { try $0.wait() }
    #expect(outcomes.map(\.code) == [0, 1, 0], "\(outcomes.map(\.output))\(outcomes.map(\.errors))")
  }

  @Test("The project file's `build` builds the checkout and the other commit, and `--build` only the commit")
  func buildOfProject() throws {
    let project = try repository()
    let text = try project.read("highwater.yml")
    try project.write("build: [cp, size, built]\n" + text, to: "highwater.yml")
    try project.write("1", to: "built")
    let outcome = try Highwater.start(["check", "--against-ref", "main~1"], in: project).wait()
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.text.contains("peak_rss rose by 4.0 MiB"))
    #expect(try project.read("built") == "24" && project.read(".git/highwater/worktree/built") == "20")
    let other = try Highwater.run("check", "--against-ref", "main~1", "--build", "echo 24 >built", in: project)
    #expect(other.code == 0, "\(other.output)\(other.errors)")
  }

  @Test("A failed build is exit code 3 with its output, and nothing is measured; `--no-build` measures what is there")
  func failedBuildOfProject() throws {
    let project = try TemporaryProject.holding(4)
    let text = try project.read("highwater.yml")
    let build = "echo no cc >&2; echo $HOME >home; exit 7"
    try project.write("build: '\(build)'\n" + text, to: "highwater.yml")
    for command in ["check", "noise", "explain"] {
      let outcome = try Highwater.run(command, in: project)
      #expect(outcome.code == 3 && outcome.text.contains("the build failed: `\(build)`: exited with code 7"))
      #expect(outcome.errors.contains("no cc") && outcome.verdict == "failed", "\(outcome.output)\(outcome.errors)")
    }
    #expect(project.starts == 0)
    #expect(try project.read(".highwater/build.log") == "no cc\n")
    #expect(try project.read("home") == "\(ProcessInfo.processInfo.environment["HOME"] ?? "")\n")
    #expect(try Highwater.run("check", "--no-build", "--quiet", in: project).code == 5)
    #expect(project.starts > 0)
  }

  @Test("An approval, a merge and a page build nothing")
  func unbuilt() throws {
    let project = try TemporaryProject.holding(4)
    let text = try project.read("highwater.yml")
    #expect(try Highwater.run("check", "--shard", "1/1", "--json", "shard.json", in: project).code == 5)
    #expect(try Highwater.run("check", in: project).code == 5)
    try project.write("build: touch built\n" + text, to: "highwater.yml")
    #expect(try Highwater.run("approve", "--reason", "first", in: project).code == 0)
    #expect(try Highwater.run("merge", "shard.json", in: project).code == 5)
    #expect(try Highwater.run("trend", in: project).code == 0)
    #expect(try Highwater.run("validate", in: project).code == 0)
    #expect(!FileManager.default.fileExists(atPath: project.url("built").path))
  }

  @Test("A commit that does not build or does not exist is an error, and nothing is measured")
  func unusableCommit() throws {
    let project = try repository()
    let broken = try Highwater.run("check", "--against-ref", "HEAD~1", "--build", "echo no cc; exit 3", in: project)
    #expect(broken.code == 2 && broken.errors.contains("no cc"), "\(broken.errors)")
    #expect(broken.text.contains("`echo no cc; exit 3`: exited with code 3"), "\(broken.errors)")
    let missing = try Highwater.run("check", "--against-ref", "v9", in: project)
    #expect(missing.code == 2 && missing.errors.contains("`v9` is not a commit"), "\(missing.errors)")
    #expect(project.starts == 0)
  }

  @Test("What was approved is built and measured for another environment, whose next check finds what came since")
  func approvedElsewhere() throws {
    let project = try repository()
    func run(_ arguments: String...) throws -> Highwater.Outcome { try Highwater.start(arguments, in: project).wait() }
    try project.checkAndApprove()
    let commit = "git add . && git -c user.name=a -c user.email=a@x commit -qm x"
    _ = try Highwater.shell(commit, in: project)
    try project.hold(30)
    try project.write("30", to: "built")
    _ = try Highwater.shell(commit, in: project)
    let move = try run("approve", "--measure", "--environment", "other", "--build", "cp size built")
    #expect(move.code == 0 && move.text.contains("baselines: 1 moved"), "\(move.output)\(move.errors)")
    #expect(try project.read("size") == "30" && project.read(".git/highwater/worktree/size") == "24")
    #expect(try project.baselines().keys.contains("load/other.json"))
    let check = try run("check", "--environment", "other")
    #expect(check.code == 1 && check.text.contains("peak_rss rose by 6.0 MiB"), "\(check.output)")
    let broken = try run("approve", "--measure", "--environment", "third", "--build", "exit 3")
    #expect(broken.code == 2 && broken.text.contains("cannot build"), "\(broken.errors)")
  }
}
