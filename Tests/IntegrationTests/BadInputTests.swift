import Foundation
import Testing

@Suite("Files that are not as they should be, and places that cannot be written")
struct BadInputTests {
  /// What stands where a baseline should, and what is said of it.
  private static let brokenTexts: [(String, @Sendable (String) -> String, String)] = [
    ("empty", { _ in "" }, "error:"),
    ("truncated", { String($0.prefix($0.count / 2)) }, "error:"),
    ("not JSON", { _ in "<<<<<<< HEAD\n{}\n=======\n" }, "error:"),
    ("of a later version", { $0.replacingOccurrences(of: "baseline/1", with: "baseline/2") }, "highwater.baseline/2"),
    ("a result", { $0.replacingOccurrences(of: "baseline/1", with: "result/1") }, "highwater.result/1"),
    ("a deep nest", { _ in String(repeating: "[", count: 500_000) }, "error:"),
    ("ten million bytes of nesting", { _ in String(repeating: "{\"a\":", count: 2_000_000) }, "larger than"),
    ("of another scenario", { $0.replacingOccurrences(of: "\"load\"", with: "\"save\"") }, "`scenario` is `save`"),
    (
      "of another environment", { $0.replacingOccurrences(of: "\"linux-", with: "\"minix-") },
      "`environment` is `minix-"
    ),
    ("with a huge figure", { figure($0, "1e400") }, "error:"),
    ("with a large figure", { figure($0, "1e30") }, "peak_rss"),
    ("with a negative figure", { figure($0, "-5") }, "peak_rss"), ("with no number", { figure($0, "NaN") }, "error:"),
    ("with a text", { figure($0, "\"12\"") }, "peak_rss"), ("with a null", { figure($0, "null") }, "peak_rss"),
  ]

  /// Puts something in the place of a baseline's first figure.
  private static func figure(_ text: String, _ figure: String) -> String {
    text.replacingOccurrences(of: #"("peak_rss" : \[\s*)[0-9]+"#, with: "$1\(figure)", options: .regularExpression)
  }

  @Test(
    "A broken baseline ends with 2, its path and a hint, before any target starts; an approval heals it",
    arguments: brokenTexts.map(\.0))
  func brokenBaseline(name: String) throws {
    let (_, make, expected) = try #require(Self.brokenTexts.first { $0.0 == name })
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    let file = try project.baselineFile()
    let sound = try String(contentsOf: file, encoding: .utf8)
    let broken = make(sound)
    #expect(broken != sound)
    try Data(broken.utf8).write(to: file)
    let starts = project.starts
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.output.isEmpty)
    #expect(
      outcome.errors.contains(file.lastPathComponent) && outcome.errors.contains(expected),
      "\(outcome.errors.prefix(500))")
    #expect(outcome.errors.contains("hint:"), "\(outcome.errors.prefix(500))")
    #expect(project.starts == starts, "a target was started")
    #expect(try Data(contentsOf: file) == Data(broken.utf8))
    let approval = try Gate.run("approve", in: project)
    #expect(approval.code == 0, "\(approval.errors)")
    #expect(try Gate.run("check", in: project).code == 0)
  }

  @Test(
    "What is no file in a baseline's place is told, without waiting for it",
    arguments: ["pipe", "folder", "loop", "device"])
  func noFile(kind: String) throws {
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    let file = try project.baselineFile()
    try FileManager.default.removeItem(at: file)
    switch kind {
    case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
    case "folder": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case "loop": try FileManager.default.createSymbolicLink(at: file, withDestinationURL: file)
    default: try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero")
    }
    let starts = project.starts
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(file.lastPathComponent))
    #expect(project.starts == starts)
  }

  @Test("All broken baselines are told at once")
  func allBroken() throws {
    let project = try TemporaryProject(
      """
      version: 1
      defaults: {repetitions: 1, warmup: 0}
      scenarios: [{name: one, target: {command: [sleep, "0.05"]}}, {name: two, target: {command: [sleep, "0.05"]}}]
      """)
    try project.approveOnce()
    for name in ["one", "two"] { try Data("{".utf8).write(to: project.baselineFile(of: name)) }
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("/one/") && outcome.errors.contains("/two/"), "\(outcome.errors)")
  }

  @Test(
    "A broken last result stops no check, and an approval says what is wrong with it",
    arguments: [
      "", "{", "null", "[]", #"{"schema": "highwater.result/2"}"#,
    ])
  func brokenResult(text: String) throws {
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    try project.write(text, to: ".highwater/result.json")
    let before = try project.baselines()
    let approval = try Gate.run("approve", in: project)
    #expect(approval.code == 2)
    #expect(approval.errors.contains("result.json") && approval.errors.contains("hint:"), "\(approval.errors)")
    #expect(try project.baselines() == before)
    #expect(try Gate.run("check", in: project).code == 0)
    #expect(try Gate.run("approve", in: project).code == 0)
  }

  @Test(
    "A file in the way of the artifacts is told before a target starts",
    arguments: [
      ["--artifacts", "size"], ["--artifacts", "size/below"], ["--artifacts", "/proc/highwater"],
      ["--artifacts", "/dev/null"],
    ])
  func artifactsInTheWay(options: [String]) throws {
    let project = try TemporaryProject.holding(2)
    let outcome = try Gate.start(["check"] + options, in: project).wait()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("error:") && outcome.errors.contains("hint:"), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    #expect(project.starts == 0)
    #expect(try project.read("size") == "2")
  }

  @Test(
    "Where `--json` cannot be written, the verdict is told all the same, and a pass becomes 3",
    arguments: [
      (2, 3 as Int32), (12, 1),
    ])
  func unwritableJSON(mebibytes: Int, code: Int32) throws {
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    try project.hold(mebibytes)
    for place in ["size/out.json", ".", "/proc/out.json"] {
      let outcome = try Gate.run("check", "--json", place, in: project)
      #expect(outcome.code == code, "\(outcome.errors)")
      #expect(outcome.output.contains("load"))
      #expect(outcome.errors.contains("error:"), "\(outcome.errors)")
      #expect(try project.result()["verdict"] as? String == (code == 1 ? "regression" : "pass"))
    }
  }

  @Test("Two checks do not share artifacts: the second says which folder is in use")
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
    let first = try Gate.start(["check"], in: project)
    while !FileManager.default.fileExists(atPath: project.url("started").path), first.process.isRunning {
      Thread.sleep(forTimeInterval: 0.01)
    }
    let second = try Gate.run("check", in: project)
    #expect(second.code == 2)
    #expect(second.errors.contains("another run is using this folder"), "\(second.errors)")
    #expect(second.errors.contains(project.url(".highwater").path))
    #expect(second.errors.contains("--artifacts"))
    try project.write("", to: "go")
    #expect(try first.wait().code == 5)
    #expect(try Gate.run("check", in: project).code == 5)
  }

  @Test(
    "The exit code survives a reader that goes away, closed streams, shells and make",
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
    try project.approveOnce()
    try project.hold(12)
    let before = try project.baselines()
    let outcome = try Gate.shell(script, in: project)
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    #expect(try project.result()["verdict"] as? String == "regression")
    #expect(try project.baselines() == before)
    #expect(try project.read(".highwater/lock").isEmpty, "words went to a file that took a closed stream's number")
  }

  @Test(
    "A full disk behind standard output turns a pass into 3, and leaves a regression as it is",
    arguments: [
      (2, 3 as Int32), (12, 1),
    ])
  func fullOutput(mebibytes: Int, code: Int32) throws {
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    try project.hold(mebibytes)
    let outcome = try Gate.shell("\"$HIGHWATER\" check > /dev/full", in: project)
    #expect(outcome.code == code)
    #expect(outcome.errors.contains("No space left"), "\(outcome.errors)")
  }
}

@Suite("Places that only root can make unfit", .enabled(if: Gate.isRoot, "needs root"))
struct UnfitPlaceTests {
  @Test(
    "As another user: artifacts, baselines and results that may not be read or written are named",
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
    try project.approveOnce()
    let starts = project.starts
    let outcome = try Gate.shell(
      "\(script); exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" \(command)", in: project
    )
    #expect(outcome.code == 2, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("error:") && outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(project.starts == starts)
  }

  @Test("Another user can check where everything may be written")
  func otherUser() throws {
    let project = try TemporaryProject.holding(2)
    let outcome = try Gate.shell(
      "chmod 777 .; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" check", in: project
    )
    #expect(outcome.code == 5, "\(outcome.output)\(outcome.errors)")
  }

  @Test("An approval that cannot be written is an error, and no half of it is left")
  func readOnlyBaselines() throws {
    let project = try TemporaryProject.holding(2)
    _ = try Gate.run("check", in: project)
    let outcome = try Gate.shell(
      "mkdir baselines; exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$HIGHWATER\" approve", in: project
    )
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("baselines") && outcome.errors.contains("hint:"), "\(outcome.errors)")
    #expect(try project.baselines().isEmpty)
  }

  @Test("On a full disk a check that cannot begin says so, and one that cannot keep its files keeps its verdict")
  func fullDisk() throws {
    let project = try TemporaryProject.holding(2)
    try project.approveOnce()
    try project.hold(12)
    let disk = project.url("disk").path
    let mount = try Gate.shell("mkdir disk && mount -t tmpfs -o size=64k,nr_inodes=64 tmpfs disk", in: project)
    try #require(mount.code == 0, "\(mount.errors)")
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let filled = try Gate.shell("dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null; true", in: project)
    try #require(filled.code == 0)
    let starts = project.starts
    let outcome = try Gate.run("check", "--artifacts", "disk/a", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("no space left"), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint: free some space"))
    #expect(project.starts == starts)

    // Room for the lock and a folder or two, and a target that fills what is left once the check has begun.
    let emptied = try Gate.shell("rm -rf disk/*", in: project)
    try #require(emptied.code == 0)
    try project.write("dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null; exec perl \"$@\"", to: "fill.sh")
    try project.write(
      project.read("highwater.yml").replacingOccurrences(of: "[perl, ", with: "[sh, fill.sh, "), to: "highwater.yml")
    let late = try Gate.run("check", "--artifacts", "disk/a", in: project)
    #expect(late.code == 1, "\(late.output)\(late.errors)")
    #expect(late.verdict == "regression")
    #expect(late.errors.contains("no space left"), "\(late.errors)")
  }
}
