import Foundation
import Testing

@Suite("The command `noise`", .endsHangs)
struct NoiseTests {
  /// Real programs that briefly hold a few MiB.
  static let programs = [
    "target: {command: [sqlite3, \":memory:\", \"select hex(zeroblob(4000000)) is null; select hex(randomblob(9))\"]}",
    "target: {command: [python3, -c, \"import time; x = bytearray(b'x' * (20 << 20)); time.sleep(0.1)\"]}",
    "target: {shell: \"x=$(head -c 3000000 /dev/zero | tr '\\\\0' x); sleep 0.1\"}",
  ]

  @Test(
    "The report on a real program has its noise, other settings, a self-comparison and a gate to copy",
    arguments: programs)
  func realProgram(scenario: String) throws {
    let harness = try ScenarioHarness(scenario, warmup: 1)
    let outcome = try harness.run(["noise", "--repetitions", "10"])
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    for part in [
      "  it", "10 repetitions", "peak_rss", "deviation", "compared with the first 5", "aslr: on",
      // What precedes it depends on the noise: a busy machine can let the values drift.
      "tolerances for this noise",
    ] {
      #expect(outcome.output.contains(part), "no `\(part)` in:\n\(outcome.output)")
    }
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    try harness.expectNothingLeft()
    // The gate to copy is valid in a project file.
    let lines = outcome.output.split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasSuffix("gate:") })
    let gate = lines[start...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
    try harness.write(scenario + "\n" + gate)
    let valid = try harness.run(["validate"])
    #expect(valid.code == 0, "\(gate)\n\(valid.errors)")
  }

  @Test(
    "A usage error exits with 2 and gives the reason",
    arguments: [
      (["--repetitions", "4"], "from 5 to 1000"), (["--repetitions", "1001"], "from 5 to 1000"),
      (["--repetitions", "many"], "many"), (["--markdown", "x"], "markdown"), (["-q", "-v"], "mutually exclusive"),
      (["itt"], "no scenario matches `itt`"), (["tag:none"], "no scenario matches `tag:none`"),
      (["--config", "none.yml"], "none.yml"), (["--environment", "../x"], "not a valid environment name"),
    ]
  )
  func usage(arguments: [String], expected: String) throws {
    let outcome = try ScenarioHarness().run(["noise"] + arguments)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test(
    "A signal stops the targets, runs the teardown and changes no file",
    arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func interrupted(signal: Int32, code: Int32) throws {
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try harness.approve()
    let before = try harness.keptFiles()
    try harness.write(
      "target: {shell: \"echo >> runs; [ $(wc -l < runs) -lt 4 ] || { touch at; sleep 1000; }\"}\nteardown: [touch torn]"
    )
    let running = try harness.start("noise")
    try harness.wait(for: "at", in: running)
    running.send(signal)
    let outcome = try running.wait()
    #expect(outcome.code == code)
    #expect(outcome.output == "" && outcome.errors.contains("interrupted"))
    #expect(harness.has("torn"))
    try harness.expectNothingLeft()
    #expect(try harness.keptFiles() == before)
  }

  @Test("`noise` rejects an artifacts folder that another run uses")
  func locked() throws {
    let harness = try ScenarioHarness("target: {shell: touch at; sleep 1000}")
    let running = try harness.start("check")
    try harness.wait(for: "at", in: running)
    let outcome = try harness.run(["noise"])
    #expect(outcome.code == 2 && outcome.errors.contains("another run is using this folder"), "\(outcome.errors)")
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
  }
}
