import Foundation
import GateCore

/// Results as a check of real programs gives them.
enum Fixture {
  static let environment = EnvironmentInfo(
    name: "linux-x86_64-2cpu-sampled",
    fingerprint: Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "sampled",
      kernel: "6.18.5", libc: "glibc 2.36"
    )
  )

  static let run = RunInfo(
    id: "0198c0de-0000-7000-8000-000000000001",
    startedAt: Date(timeIntervalSince1970: 1_767_323_045.678),
    duration: .milliseconds(12_300),
    commit: "4f2a91c0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8b0",
    branch: "main",
    buildURL: "https://ci.example/builds/17"
  )

  static func result(_ scenarios: [ScenarioResult], run: RunInfo = run) -> RunResult {
    RunResult(run: run, environment: environment, scenarios: scenarios)
  }

  /// A judged metric, in bytes by default.
  static func metric(
    _ name: MetricName = .peakRSS,
    _ verdict: Verdict = .pass,
    from baseline: Double? = nil,
    to current: Double?,
    limit: Amount? = nil,
    severity: GateRule.Severity = .fail,
    tolerance: Tolerance? = .bounds(relative: Percent(3), absolute: .kibibytes(512)),
    unit: String = "bytes",
    reason: VerdictReason? = nil
  ) -> MetricResult {
    var change: MetricResult.Change?
    var allowed: Double?
    if let baseline, let current {
      let difference = current - baseline
      change = .init(
        absolute: difference, percent: baseline == 0 ? nil : difference / baseline * 100, low: difference - 65_536,
        high: difference + 65_536
      )
      if tolerance != nil { allowed = max(baseline * 0.03, 524_288) }
    }
    let isAboveLimit = limit.map { limit in current.map { $0 > limit.value } ?? false } ?? false
    let usual: VerdictReason? =
      switch verdict {
      case .regression: isAboveLimit ? .aboveLimit(atLeastBy: nil) : .rise
      case .improved: .fall
      case .inconclusive: .undecided(upTo: change?.high ?? 0)
      case .noBaseline: .noBaseline
      case .pass, .failed, .skipped: nil
      }
    return MetricResult(
      rule: GateRule(metric: name, tolerance: tolerance, limit: limit, severity: severity),
      unit: unit,
      verdict: verdict,
      baseline: baseline.map { .init(median: $0, count: 5) },
      current: current.map { .init(median: $0, count: 5) },
      change: change,
      allowed: allowed,
      detectable: change == nil ? nil : 122_880,
      resolution: change == nil ? nil : 98_304,
      method: change == nil ? nil : .ranks,
      reason: reason ?? usual
    )
  }

  static func repetitions(
    peak: Double,
    steady: Double? = nil,
    count: Int = 5,
    step: Double = 4096,
    end: End = End(.exited, code: 0)
  ) -> [RepetitionResult] {
    (0..<count).map { index in
      var metrics: [MetricName: Double] = [.peakRSS: peak + Double(index - count / 2) * step, .treePeak: peak * 1.5]
      metrics[.steadyRSS] = steady.map { $0 + Double(index - count / 2) * step }
      return RepetitionResult(
        end: end, duration: .milliseconds(1200 + index * 10), processes: 2, metrics: metrics,
        widestGap: .milliseconds(12)
      )
    }
  }

  static func scenario(
    _ name: String,
    _ verdict: Verdict,
    metrics: [MetricResult] = [],
    repetitions: [RepetitionResult] = [],
    failure: Failure? = nil,
    notes: [Note] = []
  ) -> ScenarioResult {
    ScenarioResult(
      name: ScenarioName(name), verdict: verdict, environment: environment, repetitions: repetitions, metrics: metrics,
      failure: failure, notes: notes
    )
  }

  /// The failure of a repetition whose target did not exit with code 0.
  static func failure(of end: End, output: String = "") -> Failure {
    Failure(
      attempt: .init(number: 1, of: 10), problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: end,
      output: output)
  }

  static func passing(_ name: String, peak: Double = 24_207_360) -> ScenarioResult {
    scenario(
      name, .pass,
      metrics: [
        metric(.peakRSS, from: peak - 98_304, to: peak),
        metric(.steadyRSS, from: peak - 1_000_000, to: peak - 1_024_000),
      ],
      repetitions: repetitions(peak: peak, steady: peak - 1_024_000)
    )
  }

  static var regressed: ScenarioResult {
    var scenario = scenario(
      "redis-load[clients=50]", .regression,
      metrics: [
        metric(.peakRSS, .regression, from: 23_068_672, to: 24_379_392),
        metric(.steadyRSS, .pass, from: 22_544_384, to: 22_642_688),
        metric(.growth, .regression, to: 4915.2, limit: .kibibytes(1), tolerance: nil, unit: "bytes/iteration"),
        metric(.phase("load", .peakRSS), .pass, from: 23_068_672, to: 23_068_672),
      ],
      repetitions: repetitions(peak: 24_379_392, steady: 22_642_688)
    )
    scenario.reference = ReferenceInfo(
      composition: Composition(
        anonymous: Bytes(19_000_000), file: Bytes(4_000_000), shared: .zero, stack: Bytes(135_168),
        heap: Bytes(12_000_000)
      ))
    scenario.composition = Composition(
      anonymous: Bytes(20_258_291), file: Bytes(4_052_429), shared: .zero, stack: Bytes(135_168),
      heap: Bytes(13_258_291)
    )
    return scenario
  }

  static var improved: ScenarioResult {
    scenario(
      "json-parse", .improved,
      metrics: [
        metric(.peakRSS, .improved, from: 52_428_800, to: 41_943_040),
        metric(.steadyRSS, .improved, from: 50_331_648, to: 40_894_464),
      ],
      repetitions: repetitions(peak: 41_943_040, steady: 40_894_464)
    )
  }

  static var crashed: ScenarioResult {
    let output =
      (1...20).map { "GET /items/\($0) 200\n" }.joined()
      + "\u{1b}[31merror:\u{1b}[0m assertion failed: index < count\n\tat table.c:118\nSegmentation fault\r\n"
    return scenario(
      "api-server", .failed,
      repetitions: repetitions(peak: 8_000_000, count: 2)
        + repetitions(
          peak: 9_000_000, count: 1, end: End(.crash, signal: .segv, cause: .coreDumped)),
      failure: Failure(
        attempt: .init(number: 3, of: 10), part: .init(.step, at: [.step(number: 4, of: 4)], text: "wait: 2s"),
        problem: .targetEnded(status: .signaled(signal: .segv, coreDumped: true), isBefore: false), output: output)
    )
  }

  static var failedStep: ScenarioResult {
    scenario(
      "import", .failed,
      repetitions: repetitions(peak: 8_000_000, count: 1, end: End(.stopped, signal: .term)),
      failure: Failure(
        attempt: .init(number: 1, of: 10),
        part: .init(.step, at: [.step(number: 3, of: 3)], text: "run: redis-benchmark -p 7001 -q"),
        problem: .commandEnded(status: .exited(code: 1), expected: [0]),
        place: SourcePlace(file: "highwater.yml", line: 14, column: 9),
        output: "Could not connect to Redis at 127.0.0.1:7001: Connection refused\n"
      )
    )
  }

  static var inconclusive: ScenarioResult {
    var peak = metric(.peakRSS, .inconclusive, from: 23_068_672, to: 23_592_960)
    peak.change = .init(absolute: 524_288, percent: 2.27, low: -204_800, high: 1_572_864)
    peak.detectable = 1_468_006
    peak.isUndecided = true
    let repetitions = repetitions(peak: 23_592_960, count: 20, step: 131_072)
    peak.current = ValueSummary(repetitions.compactMap { $0.metrics[.peakRSS] })
    let steady = metric(
      .steadyRSS, .inconclusive, to: nil, reason: .unavailable(cause: .neverSteady(steadiness: .unsteady)))
    var scenario = scenario(
      "jvm-start", .inconclusive, metrics: [peak, steady], repetitions: repetitions
    )
    scenario.plan = RepetitionPlan(min: 5, max: 20)
    scenario.approval = Approval(
      at: run.startedAt.addingTimeInterval(-86_400 * 100), by: "ann", commit: "4f2a91c", reason: "first", run: "0"
    )
    scenario.reference = ReferenceInfo(commitsSinceApproval: 812)
    return scenario
  }

  static var withoutBaseline: ScenarioResult {
    scenario(
      "new-tool", .noBaseline,
      metrics: [
        metric(.peakRSS, .noBaseline, to: 4_194_304), metric(.steadyRSS, .noBaseline, to: 3_932_160),
      ],
      repetitions: repetitions(peak: 4_194_304, steady: 3_932_160, count: 10)
    )
  }

  static var otherEnvironment: ScenarioResult {
    var scenario = withoutBaseline
    scenario.name = ScenarioName("redis-load")
    scenario.notes = [
      .otherEnvironment(
        name: "linux-aarch64-4cpu-sampled",
        differences: [
          .init(field: .architecture, baseline: "aarch64", current: "x86_64"),
          .init(field: .cpus, baseline: "4", current: "2"), .init(field: .kernel, baseline: "6.1", current: "6.18.5"),
        ])
    ]
    return scenario
  }

  static var warned: ScenarioResult {
    scenario(
      "cache", .pass,
      metrics: [
        metric(.peakRSS, .pass, from: 23_068_672, to: 23_068_672),
        metric(.treePeak, .regression, from: 23_068_672, to: 25_000_000, limit: .mebibytes(23), severity: .warn),
      ],
      repetitions: repetitions(peak: 23_068_672)
    )
  }

  /// A name with an escape, a line break, right-to-left text, markup and mentions.
  static let hostileName =
    "\u{1b}[2J\u{202e}evil\r\n@everyone <!channel> <@U1|x> `*_~` [a](http://b) 'q' $(reboot) & 漢字名前 ]"

  static var hostile: ScenarioResult {
    var scenario = regressed
    scenario.name = ScenarioName(hostileName)
    scenario.notes = [
      .comparedWithBuild(
        build: "note\u{7}with\u{9b}31m controls\u{2066} and e" + String(repeating: "\u{301}", count: 200))
    ]
    return scenario
  }

  static var matrix: [ScenarioResult] {
    [1, 10, 50, 100].flatMap { clients in
      ["on", "off"].map { cache in
        passing("redis-load[cache=\(cache),clients=\(clients)]", peak: 24_000_000 + Double(clients) * 65_536)
      }
    }
  }
}
