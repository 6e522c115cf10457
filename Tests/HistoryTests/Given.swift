import FoundationEssentials
import GateCore
import LoopbackServers
import Testing

@testable import GateApplication

/// Runs for histories.
enum Given {
  static let fingerprint = Fingerprint(
    architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
    memoryLimit: .mebibytes(512), kernel: "6.18.2", libc: "glibc 2.36", allocator: "MALLOC_ARENA_MAX=2",
    variables: "DEBUG LANG"
  )

  static let environment = EnvironmentInfo(
    name: "linux-x86_64-2cpu-traced", fingerprint: fingerprint, ignoredFields: [.cpus, .aslr],
    counters: CounterCheck(bound: .kibibytes(248), difference: .kibibytes(-16))
  )

  /// The time this many hours after 2026-01-01T00:00:00Z.
  static func instant(_ hours: Int) -> Date {
    Date(timeIntervalSince1970: Double(1_767_225_600 + hours * 3600))
  }

  static func approval(_ number: Int) -> Approval {
    Approval(at: instant(number), by: "ann", commit: "c\(number)", reason: "agreed", run: "run-\(number)")
  }

  static func identifier(_ number: Int) -> String {
    let digits = String(number)
    return "019b7c9e-5a2e-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// A run with one value of one scenario, an hour after the previous run.
  static func run(
    _ number: Int,
    branch: String? = "main",
    of scenario: String = "load",
    in environment: EnvironmentInfo = environment,
    peak: Double = 24_207_360,
    verdict: Verdict = .pass
  ) -> RunSummary {
    let baseline = ValueSummary(median: 23_000_000, count: 10)
    let metric = metric(
      .peakRSS, peak, from: peak - 4096, to: peak + 8192, verdict, baseline: baseline, allowed: 690_000)
    return RunSummary(
      run: RunInfo(id: identifier(number), startedAt: instant(number), commit: "commit-\(number)", branch: branch),
      environment: environment,
      scenarios: [
        ScenarioSummary(
          name: ScenarioName(scenario), verdict: verdict, environment: environment, repetitionCount: 5,
          metrics: [metric], approval: approval(0))
      ]
    )
  }

  /// A metric as a history stores it; ungated without a verdict.
  static func metric(
    _ name: MetricName,
    _ median: Double?,
    from low: Double = 0,
    to high: Double = 0,
    unit: String = "bytes",
    _ verdict: Verdict? = nil,
    baseline: ValueSummary? = nil,
    allowed: Double? = nil,
    limit: Amount? = nil
  ) -> MetricResult {
    let change = baseline.flatMap { baseline in median.map { $0 - baseline.median } }
    return MetricResult(
      rule: GateRule(metric: name, tolerance: nil, limit: limit, severity: verdict == nil ? .off : .fail), unit: unit,
      verdict: verdict ?? .skipped, baseline: baseline,
      current: median.map { ValueSummary(median: $0, count: 5, range: low...high) },
      change: change.flatMap { change in
        baseline.map { baseline in
          let percent = baseline.median > 0 ? change / baseline.median * 100 : nil
          return .init(absolute: change, percent: percent, low: change, high: change)
        }
      },
      allowed: allowed)
  }

  /// Uses every field that a history stores.
  static var richRun: RunSummary {
    var run = run(1)
    run.run.duration = .nanoseconds(12_345_678_901)
    run.run.isDirty = true
    run.run.subject = "Keep “all” rows; 'quoted'"
    run.scenarios[0].tags = ["server", "slow"]
    run.run.buildURL = "https://ci.example/builds/7?tab=log"
    run.scenarios[0].growthIsPerIteration = true
    run.scenarios[0].metrics.append(
      metric(.steadyRSS, nil, .inconclusive, limit: .mebibytes(200)))
    run.scenarios[0].ungated = [
      metric(.growth, -12.5, from: -16.25, to: 0.1, unit: "bytes/iteration"),
      metric(.phase("load", .peakRSS), 23_003_136, from: 1, to: 2),
    ]
    run.scenarios[0].composition = Composition(
      anonymous: .mebibytes(16), file: .mebibytes(4), shared: .zero, stack: .kibibytes(132), heap: nil,
      lazilyFreed: .zero, hugePages: .mebibytes(2))
    var otherEnvironment = environment
    otherEnvironment.name = "limited"
    otherEnvironment.counters = nil
    otherEnvironment.fingerprint.memoryLimit = nil
    run.scenarios.append(
      ScenarioSummary(
        name: ScenarioName("crasher[size=1]"), verdict: .failed, environment: otherEnvironment, repetitionCount: 3,
        failedRepetitions: [
          .init(
            number: 2,
            end: End(.oom, signal: Signal(number: 9), proof: .kernelLog(line: "Killed process 7"), oomKills: 2)),
          .init(
            number: 3, end: End(.exited, code: -1, cause: .fatalError(line: "`it` said: ünfair \"quote\"")),
            loop: .loop(name: "Store.update", calls: 120, turns: 2)),
        ],
        explanation: RiseExplanation(
          .steady, finding: .other(part: .heapOverhead, rise: .mebibytes(2)), firstNamed: .init(id: "0", commit: nil))))
    return run
  }
}

/// Where a history can be: what is true of one store is true of the other.
enum Store: CaseIterable {
  case sqlite, postgresql
}

/// A temporary folder with a history, removed on `deinit`; in a database, a project of its own.
final class ScratchFolder: Sendable {
  let path: String
  private let store: Store

  init(_ store: Store = .sqlite) throws {
    self.store = store
    path = FileManager.default.temporaryDirectory.appending(component: "history-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var file: String { "\(path)/history.sqlite" }

  func open() throws -> History {
    switch store {
    case .sqlite: return try History.open(file, at: Given.instant(0))
    case .postgresql:
      let url = try PostgreSQLServer.shared.get().url()
      let address = DatabaseAddress(url: Secret(url), shown: "postgresql://test")
      return try #require(try History.open(address, project: path, for: .importing))
    }
  }

  /// The names of all files in the folder, without SQLite's files beside an open database.
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
  /// All runs in order of time.
  func allRuns() throws -> [RunSummary] {
    var runs: [RunSummary] = []
    try forEachRun { runs.append($0) }
    return runs
  }
}

extension Given {
  /// The first value of a run.
  static func firstValue(_ run: RunSummary) -> Double {
    run.scenarios.first?.metrics.first?.current?.median ?? 0
  }
}
