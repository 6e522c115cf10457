import Foundation
import Testing

@Suite("Failing steps and real targets", .endsHangs)
struct ScenarioTests {
  static let server = "target: {command: [sleep, 1000]}\n"

  @Test(
    "A failing step is named, with its repetition and loop turn",
    arguments: [
      (
        "steps: [{mark: a}, {run: 'echo x >> n; test $(wc -l < n) -lt 2'}]", 3, 0,
        "repetition 2 of 3, step 2 of 2 `run: echo x >> n; test $(wc -l < n) -lt 2`: exited with code 1 (expected 0)"
      ),
      (
        "steps: [{run: 'echo x >> n; test $(wc -l < n) -lt 2'}]", 3, 2,
        "warm-up 2, step 1 of 1 `run: echo x >> n; test $(wc -l < n) -lt 2`: exited with code 1 (expected 0)"
      ),
      (
        """
        steps:
          - repeat:
              times: 3
              steps:
                - mark: a
                - repeat: {times: 4, steps: [{run: 'echo x >> n; test $(wc -l < n) -lt 7'}]}
        """,
        1, 0, "step 1 of 1, turn 2 of 3, step 2 of 2, turn 3 of 4, step 1 of 1 `run: "
      ),
      ("steps: [{run: {command: [sh, -c, 'exit 5'], exit: [1, 2]}}]", 1, 0, "exited with code 5 (expected 1 or 2)"),
      ("steps: [{run: {command: 'kill -SEGV $$', within: 60s}}]", 1, 0, "killed by SIGSEGV (expected 0)"),
      ("steps: [{expect: {output: hello, within: 300ms}}]", 1, 0, "no such output within 300 ms"),
      ("steps: [{settle: {within: 100ms}}]", 1, 0, "too few samples within 100 ms to see resident memory settle"),
    ] as [(String, Int, Int, String)]
  )
  func failingStep(steps: String, repetitions: Int, warmup: Int, message: String) throws {
    let harness = try ScenarioHarness(Self.server + steps, repetitions: repetitions, warmup: warmup)
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(outcome.text.contains(message), "\(outcome.output)")
    #expect(outcome.text.contains("at highwater.yml:"), "the report has no location")
    try harness.expectNothingLeft()
  }

  @Test("The last output of the failed program is shown")
  func outputTail() throws {
    let client = try ScenarioHarness(Self.server + "steps: [{run: 'seq 1 100; echo refused by peer >&2; exit 1'}]")
    let clientWords = try client.check().output
    #expect(clientWords.contains("│ refused by peer") || clientWords.contains("| refused by peer"), "\(clientWords)")
    #expect(clientWords.contains(" 100\n") && !clientWords.contains(" 20\n"))
    let target = try ScenarioHarness(
      "target: {shell: echo out of luck; exec sleep 1000}\nsteps: [{expect: {output: joy, within: 300ms}}]")
    #expect(try target.check().text.contains("out of luck"))
  }

  @Test(
    "An unexpected HTTP status is reported with the expected one",
    arguments: [
      ("{url: \"http://127.0.0.1:PORT/none\"}", "answered with status 404 (expected 200 to 299)"),
      (
        "{url: \"http://127.0.0.1:PORT/\", expect: 204, times: 3}",
        "answered with status 200 (expected 204) at request 1 of 3"
      ),
      ("{url: \"http://127.0.0.1:PORT/\", method: DELETE}", "answered with status 501 (expected 200 to 299)"),
    ])
  func httpStatus(call: String, message: String) throws {
    let port = try BoundPort().number
    let harness = try ScenarioHarness(
      """
      target: {command: [python3, -m, http.server, "PORT", --bind, 127.0.0.1]}
      ready: {tcp: PORT, within: 60s}
      steps: [{http: {url: "http://127.0.0.1:PORT/", times: 2}}, {http: \(call)}]
      """.replacingOccurrences(of: "PORT", with: "\(port)")
    )
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(outcome.text.contains("step 2 of 2"))
    #expect(outcome.text.contains(message), "\(outcome.output)")
  }

  @Test("The report on a target that never settles gives the range of its memory")
  func settle() throws {
    let harness = try ScenarioHarness(
      """
      target:
        command:
          - python3
          - -c
          - "import time; data = []\\nwhile True: data.append(b'x' * (1 << 20)); time.sleep(0.02)"
      steps: [{settle: {within: 2500ms}}]
      """
    )
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(outcome.text.contains("resident memory did not settle within 2.5 s (moved "), "\(outcome.output)")
  }

  @Test("Steps use the target's standard input, output and signals, and phases begin at their steps")
  func conversation() throws {
    let harness = try ScenarioHarness(
      """
      target:
        shell: |
          trap 'echo reread' HUP; echo up
          while :; do if read line; then echo "got $line"; [ "$line" != quit ] || exit 0; fi; done
      ready: {log: "^up$", within: 60s}
      steps:
        - phase: talk
        - send: "one\\n"
        - expect: {output: got one, within: 60s}
        - signal: HUP
        - send: "two\\n"
        - expect: {output: "reread", within: 60s}
        - phase: end
        - wait: 100ms
        - send: "quit\\n"
      until: exit
      """
    )
    let outcome = try harness.check()
    #expect(outcome.code == 0, "\(outcome.output)")
    let phases = try #require(try harness.repetitions().first?["phases"] as? [[String: Any]])
    #expect(phases.compactMap { $0["name"] as? String } == ["talk", "end"])
  }

  // MARK: - Real targets

  @Test("A heavier load of a real server fails the gate of the phase with the load")
  func redis() throws {
    let harness = try ScenarioHarness(Self.redis(keys: 20_000), repetitions: 3)
    try harness.approve()
    let same = try harness.run(["check"])
    #expect(same.code == 0, "\(same.output)")
    try harness.write(Self.redis(keys: 60_000), repetitions: 3)
    let heavier = try harness.run(["check"])
    #expect(heavier.code == 1, "\(heavier.output)")
    #expect(heavier.text.contains("phase.load.peak_rss rose by"), "\(heavier.output)")
    let metrics = try #require((try harness.project.result()["scenarios"] as? [[String: Any]])?.first?["metrics"])
    let verdicts = try #require(metrics as? [[String: Any]]).reduce(into: [String: String]()) {
      $0[$1["name"] as? String ?? ""] = $1["verdict"] as? String
    }
    #expect(verdicts["phase.idle.peak_rss"] == "pass" && verdicts["phase.load.peak_rss"] == "regression", "\(verdicts)")
    try harness.expectNothingLeft()
  }

  /// Each key is set once, so that memory depends only on the number of keys.
  private static func redis(keys: Int) -> String {
    """
    target: {command: [redis-server, --port, "0", --unixsocket, r.sock, --save, "", --maxmemory-policy, noeviction]}
    ready: {unix: r.sock, within: 60s}
    steps:
      - phase: idle
      - wait: 200ms
      - phase: load
      - run: redis-cli -s r.sock eval "for i = 1, \(keys) do redis.call('set', 'key:' .. i, string.rep('x', 100)) end" 0
      - settle: {within: 60s}
    gate: {phase.idle.peak_rss: [5%, 512KiB], phase.load.peak_rss: 5%, peak_rss: 5%}
    """
  }

  @Test(
    "A leak of 4 KiB per iteration exceeds a growth limit; a program without a leak does not",
    arguments: [
      ("kept.append(bytearray(b'x' * 4096))", 1), ("kept = [bytearray(b'x' * 4096)]", 0),
    ] as [(String, Int32)])
  func growth(turn: String, code: Int32) throws {
    let harness = try ScenarioHarness(
      """
      target: {command: [python3, turns.py]}
      gate: {growth: {limit: 1KiB}, phase.turns.peak_rss: {limit: 1GiB}}
      """
    )
    try harness.project.write(
      """
      import os, time
      marks = os.open(os.environ['HIGHWATER_MARKS'], os.O_WRONLY)
      kept = []
      os.write(marks, b'phase turns\\n')
      for number in range(300):
          \(turn)
          os.write(marks, b'iteration\\n')
          time.sleep(0.003)
      """,
      to: "turns.py"
    )
    let outcome = try harness.check()
    #expect(outcome.code == code, "\(outcome.output)")
    let metrics = try #require(try harness.repetitions().first?["metrics"] as? [String: Double])
    let growth = try #require(metrics["growth"])
    #expect(code == 1 ? (3500...5000).contains(growth) : abs(growth) < 512, "\(growth) bytes per iteration")
    if code == 1 { #expect(outcome.text.contains("above its limit of 1 KiB/iteration"), "\(outcome.output)") }
  }
}
