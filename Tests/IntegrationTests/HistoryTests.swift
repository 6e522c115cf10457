import Foundation
import LoopbackServers
import Testing

@Suite("The command `history`")
struct HistoryTests {
  // MARK: Lines

  /// A line of `highwater.run/2` with two scenarios; equal arguments give equal lines.
  static func line(_ number: Int, peak: Int? = nil, branch: String = "main") -> String {
    let digits = String(format: "%012d", number)
    let second = String(format: "%02d:%02d:%02d", number / 3600 % 24, number / 60 % 60, number % 60)
    let peak = peak ?? 20_000_000 + number * 4096
    let scenarios = ["load", "serve"].map { name in
      """
      {"metrics":[{"baseline":{"count":5,"median":20000000},"change":{"absolute":\(peak - 20_000_000),"high":0,"low":0},\
      "current":{"count":5,"high":\(peak + 4096),"low":\(peak),"median":\(peak)},"name":"peak_rss","on":"fail",\
      "tolerance":{"allowed":600000},"unit":"bytes","verdict":"pass"}],"name":"\(name)","repetitionCount":5,\
      "verdict":"pass"}
      """
    }
    return """
      {"environment":{"fingerprint":{"architecture":"x86_64","aslr":"off","cpus":2,"measurement":"traced",\
      "pageSize":4096,"swap":"off","thp":"madvise"},"name":"linux-x86_64-2cpu-traced"},"run":{"branch":"\(branch)",\
      "buildURL":null,"commit":"c\(number)","durationSeconds":1.5,"id":"019b7c9e-5a2e-7000-8000-\(digits)",\
      "startedAt":"2026-01-02T\(second).000Z"},"scenarios":[\(scenarios.joined(separator: ","))],\
      "schema":"highwater.run/2","verdict":"pass"}
      """
  }

  static func lines(_ numbers: some Sequence<Int>) -> String {
    numbers.map { line($0) + "\n" }.joined()
  }

  private func history(_ words: String..., in project: TemporaryProject) throws -> Highwater.Outcome {
    try Highwater.start(["history"] + words + ["--history", "h.sqlite"], in: project).wait()
  }

  /// The export of another project's history after importing the lines.
  private func stored(_ lines: String, in project: TemporaryProject) throws -> String {
    try project.write(lines, to: "in-order.jsonl")
    try #require(try history("import", "in-order.jsonl", in: project).code == 0)
    return try history("export", in: project).output
  }

  private func integrity(_ project: TemporaryProject) throws -> String {
    try Highwater.shell("sqlite3 h.sqlite 'PRAGMA integrity_check'", in: project).output
  }

  // MARK: Import and export

  @Test("Imported lines are exported unchanged, whatever their order, files and duplicates")
  func shuffles() throws {
    var numbers = SeededNumbers(seed: 5)
    let inOrder = try TemporaryProject()
    let all = try stored(Self.lines(1...60), in: inOrder)
    for _ in 0..<4 {
      let project = try TemporaryProject()
      var lines = (Array(1...60) + Array(1...60)).map { Self.line($0) }
      for index in lines.indices.reversed() { lines.swapAt(index, Int(numbers.next() % UInt64(index + 1))) }
      let cut = 1 + Int(numbers.next() % 100)
      try project.write(lines[..<cut].map { $0 + "\n" }.joined(), to: "first.jsonl")
      // The last line of a file may lack a newline.
      try project.write(lines[cut...].joined(separator: "\n"), to: "second.jsonl")
      let outcome = try history("import", "first.jsonl", "second.jsonl", in: project)
      #expect(outcome.code == 0 && outcome.errors == "added 60 runs, 60 already there\n", "\(outcome.errors)")
      #expect(try history("export", in: project).output == all)
    }
  }

  @Test("If two lines have one run ID, the same one is stored in either order, with a warning")
  func conflict() throws {
    let both = [Self.line(1), Self.line(1, peak: 77)]
    let exports = try [both, both.reversed()].map { lines in
      let project = try TemporaryProject()
      try project.write(lines.joined(separator: "\n"), to: "x.jsonl")
      let outcome = try history("import", "x.jsonl", in: project)
      let id = "019b7c9e-5a2e-7000-8000-000000000001"
      #expect(outcome.errors.contains("warning: run \(id) is already stored with different values"))
      return try history("export", in: project).output
    }
    #expect(exports[0] == exports[1])
  }

  @Test("An invalid line is reported with its file and number; all other lines are imported")
  func hostile() throws {
    let project = try TemporaryProject()
    let lines = [
      Self.line(1), "{\"schema\":\"highwater.run/2\"", "\0\0\0", "", Self.line(2), "[1,2]",
      Self.line(3).replacingOccurrences(of: "run/2\"", with: "run/9\""), String(repeating: "[", count: 5000),
      Self.line(4).replacingOccurrences(of: "\"repetitionCount\":5", with: "\"repetitionCount\":\"5\""), Self.line(5),
    ]
    try project.write(lines.joined(separator: "\n"), to: "x.jsonl")
    let outcome = try history("import", "x.jsonl", "none.jsonl", in: project)
    #expect(outcome.code == 2)
    for place in ["x.jsonl:2:", "x.jsonl:3:", "x.jsonl:6:", "x.jsonl:7:", "x.jsonl:8:", "x.jsonl:9:", "none.jsonl:"] {
      #expect(outcome.errors.contains("\(place)"), "\(place) is not reported: \(outcome.errors)")
    }
    #expect(outcome.errors.hasSuffix("added 3 runs, 7 rejected\n"), "\(outcome.errors)")
    #expect(try history("export", in: project).output == stored(Self.lines([1, 2, 5]), in: TemporaryProject()))
  }

  @Test("Without a history or a project, the commands exit with 2 and give the reason")
  func noHistory() throws {
    let project = try TemporaryProject()
    for command in ["list", "export"] {
      let outcome = try history(command, in: project)
      #expect(outcome.code == 2 && outcome.errors.contains("h.sqlite: error: no history"))
      #expect(outcome.output.isEmpty)
    }
    #expect(try Highwater.run("history", "prune", in: project).code == 2)
    #expect(try Highwater.run("history", "list", in: project).code == 2)
  }

  // MARK: Checks

  /// Whether the tests may mount a small file system.
  private static let canMount =
    (try? Highwater.shell("mkdir m && unshare -m mount -t tmpfs tmpfs m", in: TemporaryProject()).code) == 0

  @Test("A full disk is reported and does not change the verdict", .enabled(if: canMount))
  func fullDisk() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    let check = "\"$HIGHWATER\" check --allow-missing-baseline --history tiny/h.sqlite"
    let outcome = try Highwater.shell(
      "mkdir tiny && unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs tiny && \(check)'", in: project)
    #expect(outcome.code == 0)
    #expect(
      outcome.errors.contains("this run was not added to the history: ") && outcome.errors.contains("the disk is full"),
      "\(outcome.errors)")
  }

  @Test("A history found damaged during a write is renamed, and the run goes to a new one")
  func damagedWithin() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Highwater.run("check", in: project)
    let damage = """
      cd .highwater
      page=$(sqlite3 history.sqlite "SELECT rootpage FROM sqlite_schema WHERE name = 'run_by_time'")
      head -c 4096 /dev/zero | tr '\\0' '\\377' |
        dd of=history.sqlite bs=4096 seek=$((page - 1)) conv=notrunc status=none
      """
    try #require(try Highwater.shell(damage, in: project).code == 0)
    let outcome = try Highwater.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains("a new history was created"), "\(outcome.errors)")
    #expect(try Highwater.run("history", "list", in: project).output.split(separator: "\n").count == 2)
    #expect(try Highwater.shell("ls .highwater/history.sqlite.unusable-*", in: project).code == 0)
  }

  @Test("Whether a failure is new depends on earlier runs of the branch, not on the machine's last result")
  func states() throws {
    let server = try LoopbackServer()
    let keys = "webhooks: [{url: \"http://127.0.0.1:\(server.port)/x\"}]"
    let project = try TemporaryProject.holding(
      30, repetitions: 1, keys: keys, scenarioKeys: "gate: {peak_rss: {limit: 20MiB}}")
    var checks = 0
    func state(on branch: String) throws -> String? {
      _ = try Highwater.run("check", in: project, variables: ["HIGHWATER_BRANCH": branch, "http_proxy": ""])
      checks += 1
      let body = try #require(try server.visits(checks).last?.body)
      let scenarios = try object(in: String(decoding: body, as: UTF8.self))["scenarios"] as? [[String: Any]]
      return scenarios?.first?["state"] as? String
    }
    #expect(try state(on: "main") == "new")
    #expect(try state(on: "main") == "still")
    #expect(try state(on: "topic") == "new")
    try project.hold(4)
    #expect(try state(on: "main") == "recovered")
    #expect(try state(on: "topic") == "recovered")
    #expect(try state(on: "topic") == "ok")
  }

  // MARK: Crashes and concurrent writers

  @Test("Four concurrent imports into one history lose nothing", .endsHangs)
  func fourProcesses() throws {
    let project = try TemporaryProject()
    let share = 150
    let importing = try (0..<4).map { index in
      try project.write(Self.lines(index * share..<(index + 1) * share), to: "\(index).jsonl")
      return try Highwater.start(["history", "import", "\(index).jsonl", "--history", "h.sqlite"], in: project)
    }
    for running in importing {
      let outcome = try running.wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
    #expect(try history("export", in: project).output == stored(Self.lines(0..<4 * share), in: TemporaryProject()))
    #expect(try integrity(project) == "ok\n")
  }

  @Test(
    "A process killed at any moment leaves an intact file with all finished imports",
    .endsHangs
  )
  func killed() throws {
    let project = try TemporaryProject()
    var numbers = SeededNumbers(seed: 23)
    var finished: Set<Int> = []
    for round in 0..<25 {
      let range = round * 40..<(round + 1) * 40
      try project.write(Self.lines(range), to: "x.jsonl")
      let running = try Highwater.start(["history", "import", "x.jsonl", "--history", "h.sqlite"], in: project)
      usleep(UInt32(numbers.next() % 150_000))
      kill(running.process.processIdentifier, SIGKILL)
      if try running.wait().code == 0 { finished.formUnion(range) }
      guard FileManager.default.fileExists(atPath: project.url("h.sqlite").path) else { continue }
      #expect(try integrity(project) == "ok\n")
    }
    let outcome = try history("export", in: project)
    let exported = Set(outcome.output.split(separator: "\n").map(String.init))
    let whole = try stored(Self.lines(0..<1000), in: TemporaryProject())
    let lines = whole.split(separator: "\n").map(String.init)
    #expect(finished.allSatisfy { exported.contains(lines[$0]) })
    // Each import is one transaction.
    #expect(exported.count % 40 == 0)
    #expect(exported.isSubset(of: lines))
    // The next import adds what was lost.
    try project.write(Self.lines(0..<1000), to: "x.jsonl")
    #expect(try history("import", "x.jsonl", in: project).code == 0)
    #expect(try history("export", in: project).output == whole)
  }

  // MARK: Other tools and events

  @Test("The results of asv become runs and events, and an event can be acknowledged")
  func asvResults() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    for number in 0..<40 {
      let commit = String(format: "4f2a%04d", number) + String(repeating: "c", count: 32)
      let results = (0..<3).map { name in
        "\"io.peakmem_\(name)\": [[\((number < 20 ? 100 : 130) << 20 + number % 3 << 12)], [], \"1\"]"
      }
      try project.write(
        """
        {"commit_hash": "\(commit)", "env_name": "py", "date": \(1_612_345_678_000 + number * 3_600_000),
         "params": {"machine": "box", "num_cpu": "unknown"}, "result_columns": ["result", "params", "version"],
         "results": {\(results.joined(separator: ", "))}, "version": 2}
        """, to: "results/box/\(commit)-py.json")
    }
    try project.write("{}", to: "results/box/machine.json")
    #expect(
      try Highwater.run("history", "import", "--format", "asv", "results", in: project).errors == "added 40 runs\n")
    let reimported = try Highwater.run("history", "import", "--format", "asv", "results", in: project)
    #expect(reimported.code == 0 && reimported.errors == "added 0 runs, 40 already there\n")
    let list = try Highwater.run("history", "list", "--events", in: project)
    #expect(list.output.contains("4f2a0020c  -       rise") && list.output.contains("3 of 3"), "\(list.output)")
    let unknown = try Highwater.run("history", "acknowledge", "--reason", "x", "beef", in: project)
    #expect(unknown.code == 2 && unknown.errors.contains("the history has no event `beef`"))
    let known = try Highwater.run("history", "acknowledge", "--reason", "larger cache", "4f2a0020", in: project)
    #expect(known.code == 0 && known.errors.contains("baselines/events.json"), "\(known.errors)")
    #expect(!known.errors.contains("replaced"))
    let full = "4f2a0020" + String(repeating: "c", count: 32)
    let again = try Highwater.run("history", "acknowledge", "--reason", "larger cache", full, in: project)
    #expect(
      again.code == 0 && again.errors.contains("replaced the earlier entry: acknowledged by "), "\(again.errors)")
    let near = try Highwater.run("history", "acknowledge", "--reason", "x", "4f2a0200c", in: project)
    #expect(near.code == 2 && near.errors.contains("did you mean `4f2a0020c`?"), "\(near.errors)")
    #expect(try Highwater.run("history", "list", "--events", in: project).output.contains("acknowledged by"))
    let trend = try Highwater.run("trend", "--json", "-", in: project).output
    let document = try #require(JSONSerialization.jsonObject(with: Data(trend.utf8)) as? [String: Any])
    let event = try #require((document["events"] as? [[String: Any]])?.first)
    #expect(event["state"] as? String == "acknowledged" && event["needsAttention"] as? Bool == false)
  }
}
