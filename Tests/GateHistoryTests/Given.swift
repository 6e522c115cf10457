import FoundationEssentials
import GateCore
import GateHistory

/// Runs that tests put into histories.
enum Given {
  static let fingerprint = Fingerprint(
    architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
    memoryLimit: .mebibytes(512), kernel: "6.18.2", libc: "glibc 2.36", allocator: "MALLOC_ARENA_MAX=2",
    environmentHash: "00f1a2b3c4d5e6f7"
  )

  static let environment = EnvironmentInfo(
    name: "linux-x86_64-2cpu-traced", fingerprint: fingerprint, ignoredFields: [.cpus, .aslr],
    counters: CounterCheck(bound: .kibibytes(248), difference: .kibibytes(-16))
  )

  /// 2026-01-01T00:00:00Z and so many hours.
  static func instant(_ hours: Int) -> Date {
    Date(timeIntervalSince1970: Double(1_767_225_600 + hours * 3600))
  }

  static func approval(_ number: Int) -> Baseline.Approval {
    Baseline.Approval(at: instant(number), by: "ann", commit: "c\(number)", reason: "agreed", run: "run-\(number)")
  }

  static func identifier(_ number: Int) -> String {
    let digits = String(number)
    return "019b7c9e-5a2e-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// A run with one value of one scenario, an hour after the run of the number before.
  static func run(
    _ number: Int,
    branch: String? = "main",
    of scenario: String = "load",
    in environment: EnvironmentInfo = environment,
    peak: Double = 24_207_360,
    verdict: Verdict = .pass
  ) -> RunRecord {
    let metric = MetricRecord(
      metric: .peakRSS,
      figures: .init(median: peak, low: peak - 4096, high: peak + 8192, count: 5),
      judgement: .init(verdict: verdict, baseline: 23_000_000, change: peak - 23_000_000, allowed: 690_000)
    )
    return RunRecord(
      run: RunInfo(id: identifier(number), startedAt: instant(number), commit: "commit-\(number)", branch: branch),
      environment: environment,
      scenarios: [
        ScenarioRecord(
          name: ScenarioName(scenario), verdict: verdict, environment: environment, repetitions: 5, metrics: [metric],
          approval: approval(0))
      ]
    )
  }

  /// Uses every field that a history keeps.
  static var richRun: RunRecord {
    var run = run(1)
    run.run.duration = .nanoseconds(12_345_678_901)
    run.run.subject = "Keep “all” rows; 'quoted'"
    run.scenarios[0].tags = ["server", "slow"]
    run.run.buildURL = "https://ci.example/builds/7?tab=log"
    run.scenarios[0].growthIsPerIteration = true
    run.scenarios[0].metrics += [
      MetricRecord(
        metric: .steadyRSS, figures: nil, judgement: .init(verdict: .inconclusive, limit: 200 * 1_048_576)),
      MetricRecord(metric: .growth, figures: .init(median: -12.5, low: -16.25, high: 0.1, count: 5)),
      MetricRecord(
        metric: .phase("load", .peakRSS), figures: .init(median: 23_003_136, low: 1, high: 2, count: 5)),
    ]
    run.scenarios[0].composition = Composition(
      anonymous: .mebibytes(16), file: .mebibytes(4), shared: .zero, stack: .kibibytes(132), heap: nil,
      lazilyFreed: .zero, hugePages: .mebibytes(2))
    var elsewhere = environment
    elsewhere.name = "limited"
    elsewhere.counters = nil
    elsewhere.fingerprint.memoryLimit = nil
    run.scenarios.append(
      ScenarioRecord(
        name: ScenarioName("crasher[size=1]"), verdict: .failed, environment: elsewhere, repetitions: 3,
        troubles: [
          .init(repetition: 2, end: End(.oom, signal: Signal(number: 9), proof: .verbatim("cgroup"), oomKills: 2)),
          .init(repetition: 3, end: End(.exited, code: -1, cause: .verbatim("`it` said: ünfair \"quote\""))),
        ]))
    return run
  }
}

extension Given {
  /// What a history of the first version keeps of the same run.
  static var richRunOfVersion1: RunRecord {
    var run = richRun
    run.run.subject = nil
    run.scenarios[0].tags = []
    return run
  }
}

/// A folder of a test's own, removed with all in it when the test ends.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(component: "history-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var file: String { "\(path)/history.sqlite" }

  func open() throws -> History {
    try History.open(file, at: Given.instant(0))
  }

  /// The names of all that is in the folder, without what SQLite keeps beside an open file.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter {
      !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
    }
  }

  func bytes(of name: String = "history.sqlite") throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
  }

  func put(_ bytes: some Collection<UInt8>) throws {
    try Data(bytes).write(to: URL(filePath: file))
  }
}

extension History {
  /// All runs in the order of time.
  func allRuns() throws -> [RunRecord] {
    var runs: [RunRecord] = []
    try eachRun { runs.append($0) }
    return runs
  }

  @discardableResult
  func add(_ runs: [RunRecord]) throws -> Additions {
    try append(runs) { new, kept in Given.weight(new) > Given.weight(kept) }
  }
}

extension Given {
  /// An order of runs of one id for tests: by their first figure.
  static func weight(_ run: RunRecord) -> Double {
    run.scenarios.first?.metrics.first?.figures?.median ?? 0
  }
}
