import Foundation
import LoopbackServers
import Testing

@Suite("The history, from outside")
struct HistoryTests {
  // MARK: Lines

  /// A line of `highwater.run/1` with two scenarios; equal numbers give equal lines.
  private static func line(_ number: Int, peak: Int? = nil, branch: String = "main") -> String {
    let digits = String(format: "%012d", number)
    let second = String(format: "%02d:%02d:%02d", number / 3600 % 24, number / 60 % 60, number % 60)
    let peak = peak ?? 20_000_000 + number * 4096
    let scenarios = ["load", "serve"].map { name in
      """
      {"metrics":[{"allowed":600000,"baseline":20000000,"change":\(peak - 20_000_000),"count":5,"high":\(peak + 4096),\
      "low":\(peak),"median":\(peak),"name":"peak_rss","verdict":"pass"}],"name":"\(name)","repetitions":5,\
      "verdict":"pass"}
      """
    }
    return """
      {"environment":{"fingerprint":{"architecture":"x86_64","aslr":"off","cpus":2,"measurement":"traced",\
      "pageSize":4096,"swap":"off","thp":"madvise"},"name":"linux-x86_64-2cpu-traced"},"run":{"branch":"\(branch)",\
      "buildURL":null,"commit":"c\(number)","durationSeconds":1.5,"id":"019b7c9e-5a2e-7000-8000-\(digits)",\
      "startedAt":"2026-01-02T\(second).000Z"},"scenarios":[\(scenarios.joined(separator: ","))],\
      "schema":"highwater.run/1","verdict":"pass"}
      """
  }

  private static func lines(_ numbers: some Sequence<Int>) -> String {
    numbers.map { line($0) + "\n" }.joined()
  }

  private func history(_ words: String..., in project: TemporaryProject) throws -> Gate.Outcome {
    try Gate.start(["history"] + words + ["--history", "h.sqlite"], in: project).wait()
  }

  private func integrity(_ project: TemporaryProject) throws -> String {
    try Gate.shell("sqlite3 h.sqlite 'PRAGMA integrity_check'", in: project).output
  }

  // MARK: Import and export

  @Test("Lines come out as they went in, in whatever order, split and number of times they came")
  func shuffles() throws {
    var numbers = SeededNumbers(seed: 5)
    let all = Self.lines(1...60)
    for _ in 0..<4 {
      let project = try TemporaryProject()
      var lines = (Array(1...60) + Array(1...60)).map { Self.line($0) }
      for index in lines.indices.reversed() { lines.swapAt(index, Int(numbers.next() % UInt64(index + 1))) }
      let cut = 1 + Int(numbers.next() % 100)
      try project.write(lines[..<cut].map { $0 + "\n" }.joined(), to: "first.jsonl")
      // The last line of a file may lack its end.
      try project.write(lines[cut...].joined(separator: "\n"), to: "second.jsonl")
      let outcome = try history("import", "first.jsonl", "second.jsonl", in: project)
      #expect(outcome.code == 0 && outcome.errors == "added 60 runs, 60 known already\n", "\(outcome.errors)")
      #expect(try history("export", in: project).output == all)
    }
  }

  @Test("Of two lines of one run the same one stays in either order, and it is told")
  func conflict() throws {
    let both = [Self.line(1), Self.line(1, peak: 77)]
    let exports = try [both, both.reversed()].map { lines in
      let project = try TemporaryProject()
      try project.write(lines.joined(separator: "\n"), to: "x.jsonl")
      let outcome = try history("import", "x.jsonl", in: project)
      #expect(outcome.errors.contains("warning: run 019b7c9e-5a2e-7000-8000-000000000001 came with different figures"))
      return try history("export", in: project).output
    }
    #expect(exports[0] == exports[1])
  }

  @Test("What is no run is told with its file and line, and costs no other run")
  func hostile() throws {
    let project = try TemporaryProject()
    let lines = [
      Self.line(1), "{\"schema\":\"highwater.run/1\"", "\0\0\0", "", Self.line(2), "[1,2]",
      Self.line(3).replacingOccurrences(of: "run/1\"", with: "run/9\""), String(repeating: "[", count: 5000),
      Self.line(4).replacingOccurrences(of: "\"repetitions\":5", with: "\"repetitions\":\"5\""), Self.line(5),
    ]
    try project.write(lines.joined(separator: "\n"), to: "x.jsonl")
    let outcome = try history("import", "x.jsonl", "none.jsonl", in: project)
    #expect(outcome.code == 2)
    for place in ["x.jsonl:2:", "x.jsonl:3:", "x.jsonl:6:", "x.jsonl:7:", "x.jsonl:8:", "x.jsonl:9:", "none.jsonl:"] {
      #expect(outcome.errors.contains("\(place)"), "\(place) is not reported: \(outcome.errors)")
    }
    #expect(outcome.errors.hasSuffix("added 3 runs, 7 not understood\n"), "\(outcome.errors)")
    #expect(try history("export", in: project).output == Self.lines([1, 2, 5]))
  }

  @Test("Commands without a history, and without a project, say what to do")
  func noHistory() throws {
    let project = try TemporaryProject()
    for command in ["list", "export"] {
      let outcome = try history(command, in: project)
      #expect(outcome.code == 2 && outcome.errors.contains("h.sqlite: error: there is no history yet"))
      #expect(outcome.output.isEmpty)
    }
    #expect(try Gate.run("history", "prune", in: project).code == 2)
    #expect(try Gate.run("history", "list", in: project).code == 2)
  }

  // MARK: Checks

  @Test("A check adds its run, which is listed and exported; importing its result file again adds nothing")
  func afterCheck() throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    #expect(try Gate.run("check", in: project).code == 0)
    let list = try Gate.run("history", "list", in: project)
    let rows = list.output.split(separator: "\n")
    #expect(rows.count == 3 && list.code == 0)
    #expect(rows[0].hasPrefix("date (UTC)") && rows[1].contains("no-baseline") && rows[2].contains("pass"))
    #expect(rows.allSatisfy { $0.count <= 80 })

    let export = try Gate.run("history", "export", in: project).output
    let last = try object(in: String(try #require(export.split(separator: "\n").last)))
    #expect(last["schema"] as? String == "highwater.run/1")
    let again = try Gate.run("history", "import", ".highwater/result.json", in: project)
    #expect(again.code == 0 && again.errors == "added 0 runs, 1 known already\n", "\(again.errors)")
    #expect(try Gate.run("history", "export", in: project).output == export)

    let metrics = try Gate.run("history", "export", "--openmetrics", in: project).output
    #expect(metrics.contains("highwater_verdict{scenario=\"load\"") && metrics.hasSuffix("# EOF\n"))
    #expect(try Gate.run("history", "prune", "--keep", "1", in: project).errors == "removed 1 run\n")
    #expect(try Gate.run("history", "list", in: project).output.split(separator: "\n").count == 2)
  }

  @Test("`history: off` and `--history off` keep none, and a comparison of two builds is no part of it")
  func off() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1, keys: "history: off")
    _ = try Gate.run("check", in: project)
    #expect(!FileManager.default.fileExists(atPath: project.url(".highwater/history.sqlite").path))
    let list = try Gate.run("history", "list", in: project)
    #expect(list.code == 2 && list.errors.contains("keeps no history"))

    let other = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Gate.run("check", "--history", "off", in: other)
    _ = try Gate.run("check", "--against", "A=1", in: other)
    #expect(!FileManager.default.fileExists(atPath: other.url(".highwater/history.sqlite").path))
  }

  @Test(
    "A history that cannot be written is told and changes no verdict",
    arguments: [("folder/x.sqlite", "folder"), ("there.sqlite", "there.sqlite/in-the-way")]
  )
  func unwritable(history: String, blocked: String) throws {
    let project = try TemporaryProject.holding(4, repetitions: 1, keys: "history: \(history)")
    // A file where a folder should be, or a folder where a file should be.
    try project.write("", to: blocked)
    let outcome = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains("warning: this run is not in the history: "), "\(outcome.errors)")
  }

  /// Whether the machine lets these tests have a small file system of their own.
  private static let canMount =
    (try? Gate.shell("mkdir m && unshare -m mount -t tmpfs tmpfs m", in: TemporaryProject()).code) == 0

  @Test("A full disk is told and changes no verdict", .enabled(if: canMount))
  func fullDisk() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    let check = "\"$HIGHWATER\" check --allow-missing-baseline --history tiny/h.sqlite"
    let outcome = try Gate.shell(
      "mkdir tiny && unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs tiny && \(check)'", in: project)
    #expect(outcome.code == 0)
    #expect(
      outcome.errors.contains("this run is not in the history: ") && outcome.errors.contains("the disk is full"),
      "\(outcome.errors)")
  }

  @Test("A file of no use is set aside with a message, and the check goes on")
  func setAside() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    try project.write("not a database", to: ".highwater/history.sqlite")
    let outcome = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains("warning: .highwater/history.sqlite was damaged or another program's: it is "))
    let names = try FileManager.default.contentsOfDirectory(atPath: project.url(".highwater").path)
    let aside = try #require(names.first { $0.hasPrefix("history.sqlite.set-aside-") })
    #expect(try project.read(".highwater/\(aside)") == "not a database")
    #expect(try Gate.run("history", "list", in: project).output.contains("no-baseline") == false)
  }

  @Test("A history that turns out to be damaged while it is added to is set aside, too")
  func damagedWithin() throws {
    let project = try TemporaryProject.holding(4, repetitions: 1)
    _ = try Gate.run("check", in: project)
    let damage = """
      cd .highwater
      page=$(sqlite3 history.sqlite "SELECT rootpage FROM sqlite_schema WHERE name = 'run_by_time'")
      head -c 4096 /dev/zero | tr '\\0' '\\377' |
        dd of=history.sqlite bs=4096 seek=$((page - 1)) conv=notrunc status=none
      """
    try #require(try Gate.shell(damage, in: project).code == 0)
    let outcome = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0)
    #expect(outcome.errors.contains(" and a new history has begun"), "\(outcome.errors)")
    #expect(try Gate.run("history", "list", in: project).output.split(separator: "\n").count == 2)
    #expect(try Gate.shell("ls .highwater/history.sqlite.set-aside-*", in: project).code == 0)
  }

  @Test("Whether trouble is new is told from the branch's own runs, whatever the last result on this machine was")
  func states() throws {
    let server = try LoopbackServer()
    let keys = "webhooks: [{url: \"http://127.0.0.1:\(server.port)/x\"}]"
    let project = try TemporaryProject.holding(
      30, repetitions: 1, keys: keys, scenarioKeys: "gate: {peak_rss: {limit: 20MiB}}")
    var checks = 0
    func state(on branch: String) throws -> String? {
      _ = try Gate.run("check", in: project, variables: ["HIGHWATER_BRANCH": branch, "http_proxy": ""])
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

  @Test("A check says that memory has crept up over the runs of its branch")
  func creep() throws {
    let project = try TemporaryProject.holding(
      8, repetitions: 1, scenarioKeys: "gate: {peak_rss: {tolerance: [50%, 1MiB]}}")
    try project.approveOnce()
    _ = try Gate.run("check", in: project)
    // Earlier runs of the same environment, which rose little by little to about what is held now.
    let last = try Gate.run("history", "export", in: project).output.split(separator: "\n").last
    var run = try object(in: String(try #require(last)))
    var lines = ""
    for number in 1...40 {
      var info = try #require(run["run"] as? [String: Any])
      info["id"] = "old-\(number)"
      info["startedAt"] = "2025-01-01T00:00:\(number + 10).000Z"
      run["run"] = info
      var scenarios = try #require(run["scenarios"] as? [[String: Any]])
      var metrics = try #require(scenarios[0]["metrics"] as? [[String: Any]])
      for index in metrics.indices where metrics[index]["name"] as? String == "peak_rss" {
        metrics[index]["median"] = 4_000_000 + max(0, number - 10) * 300_000
      }
      scenarios[0]["metrics"] = metrics
      run["scenarios"] = scenarios
      lines += String(decoding: try JSONSerialization.data(withJSONObject: run), as: UTF8.self) + "\n"
    }
    try project.write(lines, to: "old.jsonl")
    #expect(try Gate.run("history", "import", "old.jsonl", in: project).code == 0)
    let outcomes = try (0..<4).map { _ in try Gate.run("check", in: project) }
    let outcome = try #require(outcomes.last)
    #expect(outcome.code == 0)
    #expect(outcome.words.contains("peak_rss has crept up by "), "\(outcome.words)")
    #expect(outcome.words.contains("(2025-01-01"), "\(outcome.words)")
  }

  // MARK: Crashes and crowds

  @Test("Four processes import into one file at once: nothing is lost", .timeLimit(.minutes(10)))
  func fourProcesses() throws {
    let project = try TemporaryProject()
    let share = 150
    let importing = try (0..<4).map { index in
      try project.write(Self.lines(index * share..<(index + 1) * share), to: "\(index).jsonl")
      return try Gate.start(["history", "import", "\(index).jsonl", "--history", "h.sqlite"], in: project)
    }
    for running in importing {
      let outcome = try running.wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
    #expect(try history("export", in: project).output == Self.lines(0..<4 * share))
    #expect(try integrity(project) == "ok\n")
  }

  @Test(
    "A process that is killed at any instant leaves a whole file, with all that was finished",
    .timeLimit(.minutes(10))
  )
  func killed() throws {
    let project = try TemporaryProject()
    var numbers = SeededNumbers(seed: 23)
    var finished: Set<Int> = []
    for round in 0..<25 {
      let range = round * 40..<(round + 1) * 40
      try project.write(Self.lines(range), to: "x.jsonl")
      let running = try Gate.start(["history", "import", "x.jsonl", "--history", "h.sqlite"], in: project)
      usleep(UInt32(numbers.next() % 150_000))
      kill(running.process.processIdentifier, SIGKILL)
      if try running.wait().code == 0 { finished.formUnion(range) }
      guard FileManager.default.fileExists(atPath: project.url("h.sqlite").path) else { continue }
      #expect(try integrity(project) == "ok\n")
    }
    let outcome = try history("export", in: project)
    let exported = Set(outcome.output.split(separator: "\n").map(String.init))
    let missing = finished.filter { !exported.contains(Self.line($0)) }
    #expect(missing.isEmpty)
    // Each import was one transaction: all of it, or nothing.
    #expect(exported.count % 40 == 0)
    #expect(exported.isSubset(of: (0..<1000).map { Self.line($0) }))
    // What was lost comes with the next import.
    try project.write(Self.lines(0..<1000), to: "x.jsonl")
    #expect(try history("import", "x.jsonl", in: project).code == 0)
    #expect(try history("export", in: project).output == Self.lines(0..<1000))
  }
}
