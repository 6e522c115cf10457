import Foundation
import Testing

@Suite("Measuring one command without a project file", .timeLimit(.minutes(10)))
struct RecordTests {
  /// Programs whose last act is to write down their own high-water mark, in KiB, to the file `own`.
  static let programs = [
    [
      "sqlite3", ":memory:",
      """
      create table t as with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
        select i, hex(randomblob(32)) as text from n;
      create index x on t(text);
      """,
      ".shell sleep 0.2; grep VmHWM /proc/$PPID/status > own",
    ],
    [
      "python3", "-c",
      """
      import time
      data = bytearray(b'x' * (60 << 20)); del data; time.sleep(0.2)
      open('own', 'w').write(next(line for line in open('/proc/self/status') if 'VmHWM' in line))
      """,
    ],
    ["sh", "-c", "x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep 0.2; grep VmHWM /proc/$$/status > own; exit 0"],
  ]

  @Test("The peak is the program's own high-water mark within 1 %", arguments: programs)
  func peak(command: [String]) throws {
    let scene = try Scene()
    let outcome = try scene.run(["record", "--json", "-", "--"] + command)
    #expect(outcome.code == 0, "\(outcome.errors)")
    let peak = try #require(try scene.metrics(in: outcome.output).first?["peak_rss"] as? Double)
    let own = try #require(Double(try scene.project.read("own").split { !$0.isNumber }.first ?? "")) * 1024
    #expect(abs(peak - own) <= own / 100, "\(command[0]): recorded \(peak), its own figure \(own)")
    #expect(try scene.leftovers() == [])
  }

  @Test("A person is told the peak; what the command prints is shown only on demand")
  func report() throws {
    let scene = try Scene()
    let silent = try scene.run(["record", "--", "sh", "-c", "echo marvellous; sleep 0.3"])
    #expect(silent.code == 0)
    #expect(silent.output.contains("peak"))
    #expect(!silent.output.contains("marvellous") && !silent.errors.contains("marvellous"))
    let shown = try scene.run(["record", "--show-output", "--", "sh", "-c", "echo marvellous; sleep 0.3"])
    #expect(shown.errors.contains("marvellous\n"))
    #expect(!shown.output.contains("marvellous"), "standard output is for the figures")
  }

  @Test("The JSON is the only thing on standard output, and the file holds the same")
  func json() throws {
    let scene = try Scene()
    let outcome = try scene.run(["record", "--json", "-", "--show-output", "--", "sh", "-c", "echo noise; sleep 0.2"])
    let result = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(result["schema"] as? String == "highwater.result/1")
    #expect(result["exitCode"] as? Int == 0)
    #expect((result["scenarios"] as? [[String: Any]])?.first?["name"] as? String == "sh")
    let filed = try scene.run(["record", "--json", "r/x.json", "--", "sleep", "0.2"])
    #expect(filed.code == 0 && filed.output.contains("peak"))
    #expect(try scene.metrics(in: try scene.project.read("r/x.json")).count == 1)
  }

  @Test("Repetitions are counted, and come after a warm-up")
  func repetitions() throws {
    let scene = try Scene()
    let outcome = try scene.run(
      ["record", "--repetitions", "3", "--json", "-", "--", "sh", "-c", "echo x >> runs; sleep 0.1"]
    )
    #expect(outcome.code == 0)
    #expect(try scene.metrics(in: outcome.output).count == 3)
    #expect(try scene.project.read("runs") == "x\nx\nx\nx\n")
  }

  @Test(
    "The exit code is the verdict on the command's end",
    arguments: [
      (["sh", "-c", "sleep 0.1; echo because >&2; exit 3"], 3, "because"), (["no-such-program"], 3, "cannot execute"),
      (["sh", "-c", "sleep 0.1; ulimit -c 0; kill -SEGV $$"], 3, "SIGSEGV"),
      (["sh", "-c", "sleep 0.1; kill -KILL $$"], 4, "killed by an unknown hand"), (["./highwater.yml"], 3, "chmod +x"),
    ] as [([String], Int32, String)]
  )
  func ends(command: [String], code: Int32, message: String) throws {
    let scene = try Scene()
    let outcome = try scene.run(["record", "--"] + command)
    #expect(outcome.code == code)
    #expect(outcome.words.contains(message), "\(outcome.output)\(outcome.errors)")
    #expect(try scene.leftovers() == [])
  }

  @Test("A command that takes too long is stopped")
  func timeout() throws {
    let scene = try Scene()
    let outcome = try scene.run(["record", "--timeout", "300ms", "--", "sh", "-c", "sleep 1000 & sleep 1000"])
    #expect(outcome.code == 3)
    #expect(outcome.words.contains("timeout: did not end within 300 ms"), "\(outcome.output)")
    #expect(try scene.leftovers() == [])
  }

  @Test("The command sees the caller's variables and folder, and its arguments as they are")
  func surroundings() throws {
    let scene = try Scene()
    let outcome = try scene.run(
      [
        "record", "--show-output", "--", "sh", "-c", "pwd -P; echo \"$NO_COLOR|$1|$2\"; sleep 0.1", "sh", "--json",
        "a  b",
      ]
    )
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains("\(scene.project.path)\n1|--json|a  b\n"), "\(outcome.errors)")
  }
}

extension Scene {
  /// The figures of each repetition of the first scenario of a result.
  fileprivate func metrics(in json: String) throws -> [[String: Any]] {
    let result = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let scenario = try #require((result["scenarios"] as? [[String: Any]])?.first)
    return try #require(scenario["repetitions"] as? [[String: Any]]).compactMap { $0["metrics"] as? [String: Any] }
  }
}
