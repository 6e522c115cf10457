import Foundation
import Testing

@Suite("Scenarios against themselves", .timeLimit(.minutes(10)))
struct NoiseTests {
  /// Programs that hold a few MiB for a moment, as real ones do.
  static let programs = [
    "target: {command: [sqlite3, \":memory:\", \"select hex(zeroblob(4000000)) is null; select hex(randomblob(9))\"]}",
    "target: {command: [python3, -c, \"import time; x = bytearray(b'x' * (20 << 20)); time.sleep(0.1)\"]}",
    "target: {shell: \"x=$(head -c 3000000 /dev/zero | tr '\\\\0' x); sleep 0.1\"}",
  ]

  @Test(
    "Real programs are studied: figures, other settings, the comparison with itself, a gate to copy",
    arguments: programs)
  func realProgram(scenario: String) throws {
    let scene = try Scene(scenario, warmup: 1)
    let outcome = try scene.run(["noise", "--repetitions", "10"])
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    for part in ["  it", "10 repetitions", "peak_rss", "deviation", "judged by the first 5", "aslr: on", "to copy"] {
      #expect(outcome.output.contains(part), "no `\(part)` in:\n\(outcome.output)")
    }
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(try scene.leftovers() == [])
    // What is to be copied is taken by the project file.
    let lines = outcome.output.split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasSuffix("gate:") })
    let gate = lines[start...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
    try scene.write(scenario + "\n" + gate)
    let valid = try scene.run(["validate"])
    #expect(valid.code == 0, "\(gate)\n\(valid.errors)")
  }

  @Test("Other settings are run half as often and in turn, unless `--as-is` leaves them out")
  func turns() throws {
    let scenario = "target: {shell: \"cat /proc/self/personality >> log; sleep 0.03\"}"
    let scene = try Scene(scenario, warmup: 1)
    #expect(try scene.run(["noise", "--as-is", "--repetitions", "12"]).code == 0)
    #expect(try scene.project.read("log").split(separator: "\n").count == 13)
    scene.remove("log")
    let json = try object(in: try scene.run(["noise", "--repetitions", "12", "--json", "-"]).output)
    let study = try #require((json["scenarios"] as? [[String: Any]])?.first)
    let variants = try #require(study["variants"] as? [[String: Any]])
    #expect(variants.contains { $0["isolation"] as? [String: String] == ["aslr": "on"] })
    #expect(variants.allSatisfy { $0["repetitions"] as? Int == 6 })
    let personalities = try scene.project.read("log").split(separator: "\n").map(String.init)
    #expect(personalities.count == 13 + 7 * variants.count)
    // Bit 18 is ADDR_NO_RANDOMIZE (personality(2)); those with random addresses come all over the run.
    let random = personalities.indices.filter { Int(personalities[$0], radix: 16).map { $0 & 0x40000 == 0 } ?? false }
    #expect(random.count == 7)
    let (first, last) = (try #require(random.first), try #require(random.last))
    #expect(first < 6 && last > personalities.count - 7)
  }

  @Test("Nothing that a check or an approval has left is touched, and outputs stand apart")
  func untouched() throws {
    let scene = try Scene("target: {shell: \"echo said; sleep 0.1\"}")
    try scene.approve()
    let (before, output) = (try scene.keptFiles(), try scene.project.read(".highwater/output/it/1.log"))
    #expect(before.count == 2)
    let history = try Data(contentsOf: scene.project.url(".highwater/history.sqlite"))
    let outcome = try scene.run(["noise", "--repetitions", "5"])
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(try scene.keptFiles() == before)
    #expect(try scene.project.read(".highwater/output/it/1.log") == output)
    #expect(try scene.project.read(".highwater/noise/output/it/5.log") == "said\n")
    #expect(scene.has(".highwater/noise/recordings/it/5.hwrec"))
    #expect(scene.has(".highwater/noise/aslr=on/recordings/it/5.hwrec"))
    #expect(try Data(contentsOf: scene.project.url(".highwater/history.sqlite")) == history)
  }

  @Test("`--json -` gives standard output to the study, and words go to standard error; a file gets the same")
  func json() throws {
    let scene = try Scene("target: {shell: sleep 0.1}")
    let outcome = try scene.run(["noise", "--as-is", "--repetitions", "5", "--json", "-"])
    let study = try object(in: outcome.output)
    #expect(outcome.code == 0 && outcome.errors.contains("5 repetitions"))
    #expect(study["schema"] as? String == "highwater.noise/1")
    #expect(study["verdict"] as? String == "pass" && study["exitCode"] as? Int == 0)
    let scenario = try #require((study["scenarios"] as? [[String: Any]])?.first)
    let metrics = try #require(scenario["metrics"] as? [[String: Any]])
    let peak = try #require(metrics.first { $0["name"] as? String == "peak_rss" })
    #expect((peak["values"] as? [Double])?.count == 5)
    #expect((peak["detectable"] as? [[String: Any]])?.compactMap { $0["repetitions"] as? Int } == [5, 10, 20])
    let filed = try scene.run(["noise", "--as-is", "--repetitions", "5", "--json", "n/x.json"])
    #expect(filed.output.contains("5 repetitions"))
    #expect(try object(in: try scene.project.read("n/x.json"))["schema"] as? String == "highwater.noise/1")
  }

  @Test(
    "A wrong command line ends with 2 and says why",
    arguments: [
      (["--repetitions", "4"], "from 5 to 1000"), (["--repetitions", "1001"], "from 5 to 1000"),
      (["--repetitions", "many"], "many"), (["--markdown", "x"], "markdown"), (["-q", "-v"], "exclude each other"),
      (["itt"], "no scenario matches `itt`"), (["tag:none"], "no scenario matches `tag:none`"),
      (["--config", "none.yml"], "none.yml"), (["--environment", "../x"], "no name of an environment"),
    ]
  )
  func usage(arguments: [String], expected: String) throws {
    let outcome = try Scene().run(["noise"] + arguments)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test(
    "A target that fails ends with 3 at once, in the words of a check, and other scenarios are studied all the same")
  func failing() throws {
    let scene = try Scene("target: {shell: \"echo >> runs; echo because; sleep 0.05; exit 7\"}")
    let outcome = try scene.run(["noise"])
    let check = try scene.check()
    #expect(outcome.code == 3)
    #expect(check.output.contains("repetition 1 of 1: the target ended: exited with code 7"))
    #expect(outcome.output.contains("repetition 1 of 20: the target ended: exited with code 7"), "\(outcome.output)")
    #expect(outcome.output.contains("because") && outcome.verdict == "failed")
    #expect(outcome.output.contains(".highwater/noise/output/it/1.log"))
    let runs = try scene.project.read("runs").utf8.count
    #expect(runs <= 1 + 3 + 1, "it goes on after a failure: \(runs) runs")
    #expect(try scene.leftovers() == [])
  }

  @Test("A scenario that fails only with another setting is studied, and the setting is named")
  func failingVariant() throws {
    // Bit 18 is ADDR_NO_RANDOMIZE (personality(2)).
    let scene = try Scene("target: {shell: \"sleep 0.05; grep -q 4....$ /proc/self/personality\"}")
    let outcome = try scene.run(["noise", "--repetitions", "5"])
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(outcome.words.contains("with `isolation: {aslr: on}` it fails: repetition 1 of 5"), "\(outcome.output)")
  }

  @Test("A target that nobody could see is inconclusive")
  func unseen() throws {
    let scene = try Scene("target: {command: [\"true\"]}\nisolation: {tracer: off}")
    let outcome = try scene.run(["noise", "--as-is", "--repetitions", "5"])
    #expect([0, 4].contains(outcome.code))
    #expect((outcome.code == 4) == outcome.output.contains("no figures"), "\(outcome.output)")
  }

  @Test(
    "A signal stops the targets, tears down, and changes nothing",
    arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func interrupted(signal: Int32, code: Int32) throws {
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try scene.approve()
    let before = try scene.keptFiles()
    try scene.write(
      "target: {shell: \"echo >> runs; [ $(wc -l < runs) -lt 4 ] || { touch at; sleep 1000; }\"}\nteardown: [touch torn]"
    )
    let running = try scene.start("noise")
    try scene.wait(for: "at", in: running)
    running.send(signal)
    let outcome = try running.wait()
    #expect(outcome.code == code)
    #expect(outcome.output == "" && outcome.errors.contains("interrupted"))
    #expect(scene.has("torn"))
    #expect(try scene.leftovers() == [])
    #expect(try scene.keptFiles() == before)
  }

  @Test("Another run in the same artifacts folder keeps it out")
  func locked() throws {
    let scene = try Scene("target: {shell: touch at; sleep 1000}")
    let running = try scene.start("check")
    try scene.wait(for: "at", in: running)
    let outcome = try scene.run(["noise"])
    #expect(outcome.code == 2 && outcome.errors.contains("another run is using this folder"), "\(outcome.errors)")
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
  }
}
