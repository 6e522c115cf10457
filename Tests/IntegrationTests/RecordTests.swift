import Foundation
import Testing

@Suite("The command `record`", .endsHangs)
struct RecordTests {
  /// Programs that write their own `VmHWM` to the file `own` before they exit.
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

  @Test("The peak is within 1 % of the program's own `VmHWM`", arguments: programs)
  func peak(command: [String]) throws {
    let harness = try ScenarioHarness()
    let outcome = try harness.run(["record", "--json", "-", "--"] + command)
    #expect(outcome.code == 0, "\(outcome.errors)")
    let peak = try #require(try harness.metrics(in: outcome.output).first?["peak_rss"] as? Double)
    let own = try #require(Double(try harness.project.read("own").split { !$0.isNumber }.first ?? "")) * 1024
    #expect(abs(peak - own) <= own / 100, "\(command[0]): recorded \(peak), its own \(own)")
    try harness.expectNothingLeft()
  }

  @Test(
    "The exit code reflects how the command ended",
    arguments: [
      (["sh", "-c", "sleep 0.1; echo because >&2; exit 3"], 3, "because"), (["no-such-program"], 3, "cannot execute"),
      (["sh", "-c", "sleep 0.1; ulimit -c 0; kill -SEGV $$"], 3, "SIGSEGV"),
      (["sh", "-c", "sleep 0.1; kill -KILL $$"], 4, "killed by SIGKILL; sender unknown"),
      (["./highwater.yml"], 3, "chmod +x"),
    ] as [([String], Int32, String)]
  )
  func ends(command: [String], code: Int32, message: String) throws {
    let harness = try ScenarioHarness()
    let outcome = try harness.run(["record", "--"] + command)
    #expect(outcome.code == code)
    #expect(outcome.text.contains(message), "\(outcome.output)\(outcome.errors)")
    try harness.expectNothingLeft()
  }

  @Test("A command that runs longer than the timeout is stopped")
  func timeout() throws {
    let harness = try ScenarioHarness()
    let outcome = try harness.run(["record", "--timeout", "300ms", "--", "sh", "-c", "sleep 1000 & sleep 1000"])
    #expect(outcome.code == 3)
    #expect(outcome.text.contains("timeout: did not end within 300 ms"), "\(outcome.output)")
    try harness.expectNothingLeft()
  }

  @Test("The command inherits variables and working directory, and gets its arguments unchanged")
  func inherited() throws {
    let harness = try ScenarioHarness()
    let outcome = try harness.run(
      [
        "record", "--show-output", "--", "sh", "-c", "pwd -P; echo \"$NO_COLOR|$1|$2\"; sleep 0.1", "sh", "--json",
        "a  b",
      ]
    )
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains("\(harness.project.path)\n1|--json|a  b\n"), "\(outcome.errors)")
  }
}

extension ScenarioHarness {
  /// The metrics of each repetition of the first scenario of a result.
  fileprivate func metrics(in json: String) throws -> [[String: Any]] {
    let result = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let scenario = try #require((result["scenarios"] as? [[String: Any]])?.first)
    return try #require(scenario["repetitions"] as? [[String: Any]]).compactMap { $0["metrics"] as? [String: Any] }
  }
}
