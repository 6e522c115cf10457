import Foundation
import Testing

@Suite("Locked folders, and closed or full standard streams")
struct SystemFaultTests {
  @Test("A second check in the same artifacts folder is an error that names the folder")
  func locked() throws {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: slow
          target: {command: [sleep, "600"]}
          ready: {delay: 1ms}
          steps: [{run: "touch started; while ! [ -e go ]; do sleep 0.02; done"}]
          repetitions: 1
          warmup: 0
      """)
    let first = try Highwater.start(["check"], in: project)
    while !FileManager.default.fileExists(atPath: project.url("started").path), first.process.isRunning {
      Thread.sleep(forTimeInterval: 0.01)
    }
    let second = try Highwater.run("check", in: project)
    #expect(second.code == 2)
    #expect(second.errors.contains("another run is using this folder"), "\(second.errors)")
    #expect(second.errors.contains(project.url(".highwater").path))
    #expect(second.errors.contains("--artifacts"))
    try project.write("", to: "go")
    #expect(try first.wait().code == 5)
    #expect(try Highwater.run("check", in: project).code == 5)
  }

  @Test(
    "The exit code does not depend on closed pipes and streams, shells and make",
    arguments: [
      "\"$HIGHWATER\" check --verbose | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}", "\"$HIGHWATER\" check >&-",
      "\"$HIGHWATER\" check 2>&-", "\"$HIGHWATER\" check <&- >&- 2>&-",
      "\"$HIGHWATER\" check --json - | true; exit ${PIPESTATUS[0]}",
      "sh -c '\"$HIGHWATER\" check'",
      "printf 'gate:\\n\\t@\"$(HIGHWATER)\" check\\n' > Makefile; make gate 2>&1 | grep -o 'Error 1' && exit 1",
      "timeout 100 \"$HIGHWATER\" check", "nohup \"$HIGHWATER\" check",
    ])
  func exitCode(script: String) throws {
    let project = try TemporaryProject.holding(2)
    try project.checkAndApprove()
    try project.hold(12)
    let before = try project.baselines()
    let outcome = try Highwater.shell(script, in: project)
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(try project.result()["verdict"] as? String == "regression")
    #expect(try project.baselines() == before)
    #expect(
      try project.read(".highwater/lock").isEmpty, "a file reused the descriptor of a closed stream and was written to")
  }

  @Test(
    "If standard output is on a full disk, a pass becomes 3 and a regression stays 1",
    arguments: [
      (2, 3 as Int32), (12, 1),
    ])
  func fullOutput(mebibytes: Int, code: Int32) throws {
    let project = try TemporaryProject.holding(2)
    try project.checkAndApprove()
    try project.hold(mebibytes)
    let outcome = try Highwater.shell("\"$HIGHWATER\" check > /dev/full", in: project)
    #expect(outcome.code == code)
    #expect(outcome.errors.contains("no space left"), "\(outcome.errors)")
  }
}

@Suite("Folders without permissions, and full disks", .enabled(if: Highwater.isRoot, "needs root"))
struct UnusableFolderTests {
  @Test(
    "Unreadable and unwritable files are named",
    arguments: [
      ("chmod 555 . ; chmod 755 .highwater", "check", "cannot be written"),
      ("chmod 700 baselines", "check", "permission denied"),
      ("chmod 600 baselines/load/*", "check", "permission denied"),
      ("chmod 000 highwater.yml", "validate", "highwater.yml"),
      ("chmod 600 .highwater/result.json", "approve", "permission denied"),
      ("chmod 600 hold.pl", "approve --from hold.pl", "permission denied"),
    ])
  func denied(script: String, command: String, expected: String) throws {
    let project = try TemporaryProject.holding(2)
    try project.checkAndApprove()
    let starts = project.starts
    let outcome = try Highwater.shell(
      "\(script); exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" \(command)", in: project
    )
    #expect(outcome.code == 2, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("error:") && outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(project.starts == starts)
  }

  @Test("Another user can run a check in a world-writable folder")
  func otherUser() throws {
    let project = try TemporaryProject.holding(2)
    let outcome = try Highwater.shell(
      "chmod 777 .; export TMPDIR=$PWD; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" check",
      in: project
    )
    #expect(outcome.code == 5, "\(outcome.output)\(outcome.errors)")
  }

  @Test("An approval that cannot be written is an error and leaves no file")
  func readOnlyBaselines() throws {
    let project = try TemporaryProject.holding(2)
    _ = try Highwater.run("check", in: project)
    let outcome = try Highwater.shell(
      "mkdir baselines; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" approve", in: project
    )
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("baselines") && outcome.errors.contains("hint:"), "\(outcome.errors)")
    #expect(try project.baselines().isEmpty)
  }

  @Test("On a full disk, a check that cannot begin exits with 2, and one that cannot write its files keeps its verdict")
  func fullDisk() throws {
    let project = try TemporaryProject.holding(2)
    try project.checkAndApprove()
    try project.hold(12)
    let disk = project.url("disk").path
    let mount = try Highwater.shell("mkdir disk && mount -t tmpfs -o size=64k,nr_inodes=64 tmpfs disk", in: project)
    try #require(mount.code == 0, "\(mount.errors)")
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let filled = try Highwater.shell("dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null; true", in: project)
    try #require(filled.code == 0)
    let starts = project.starts
    let outcome = try Highwater.run("check", "--artifacts", "disk/a", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("no space left"), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint: free some space"))
    #expect(project.starts == starts)

    // Space for the lock and the folders, and a target that fills the rest once the check has begun.
    let emptied = try Highwater.shell("rm -rf disk/*", in: project)
    try #require(emptied.code == 0)
    try project.write("dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null; exec perl \"$@\"", to: "fill.sh")
    try project.write(
      project.read("highwater.yml").replacingOccurrences(of: "[perl, ", with: "[sh, fill.sh, "), to: "highwater.yml")
    let late = try Highwater.run("check", "--artifacts", "disk/a", in: project)
    #expect(late.code == 1, "\(late.output)\(late.errors)")
    #expect(late.verdict == "regression")
    #expect(late.errors.contains("no space left"), "\(late.errors)")
  }
}
