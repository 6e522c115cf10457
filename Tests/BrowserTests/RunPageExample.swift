import Foundation
import GateCore

@testable import GateApplication

/// A check of a server and two other programs, with all elements of a run page.
struct RunPageExample {
  /// A text that is dangerous in HTML and scripts.
  static let hostileText = "</script><img src=x onerror=\"document.title='ran'\"><svg onload=alert(1)>'\"{{a}}&amp;"

  /// The text for each field that comes from users or targets; nil for plausible texts.
  var userText: String?
  var explanations: [ScenarioName: ProfileComparison] = [:]

  var html: String {
    let scenarios = [passing, failed, regressed]
    let run = RunInfo(
      id: "0198c0de-0000-7000-8000-000000000001", startedAt: Date(timeIntervalSince1970: 1_767_323_045),
      duration: .seconds(12), commit: userText ?? "4f2a91c0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8b0",
      branch: userText ?? "main", buildURL: "https://ci.example/\(userText ?? "builds/17")"
    )
    let result = RunResult(run: run, environment: environment, scenarios: scenarios)
    var context = SummaryContext(exitCode: .regression, resultPath: userText ?? ".highwater/result.json")
    context.explanations = explanations
    return RunPage.text(result, context: context)
  }

  private var environment: EnvironmentInfo {
    EnvironmentInfo(
      name: userText ?? "linux-x86_64-2cpu-traced",
      fingerprint: Fingerprint(
        architecture: userText ?? "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise",
        measurement: userText ?? "traced", kernel: userText ?? "6.18.5", libc: "glibc 2.36"
      )
    )
  }

  private func scenario(_ name: String, _ verdict: Verdict, growing rise: Int64 = 0) -> ScenarioResult {
    var scenario = ScenarioResult(
      name: ScenarioName((userText ?? "") + name), verdict: verdict, environment: environment,
      repetitions: (0..<5).map { repetition($0, rise: rise) }, metrics: [metric(.peakRSS, verdict, rise)],
      notes: [
        .environmentChanged(differences: [.init(field: .kernel, baseline: userText ?? "6.1", current: "6.18.5")]),
        .otherProgram(baseline: "server", current: userText ?? "worker"),
      ]
    )
    scenario.reference = ReferenceInfo(curve: curve(0, rise: 0).main.downsampled(to: MemorySeries.mostSecondaryPoints))
    scenario.approval = Approval(
      at: Date(timeIntervalSince1970: 1_766_323_045), by: userText ?? "ann", commit: userText, reason: userText,
      run: "0"
    )
    return scenario
  }

  private var passing: ScenarioResult { scenario("json-parse", .pass) }

  private var failed: ScenarioResult {
    var scenario = scenario("api-server", .failed)
    let end = End(
      .crash, signal: .segv, proof: .kernelLog(line: userText ?? "server[4000]: segfault at 0"),
      cause: .fatalError(line: userText ?? "Fatal error: index out of range"))
    scenario.repetitions[4].end = end
    scenario.failure = Failure(
      attempt: .init(number: 5, of: 5), part: .init(.step, at: [.step(number: 2, of: 2)], text: userText ?? "wait: 2s"),
      problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: end,
      place: SourcePlace(file: userText ?? "highwater.yml", line: 14, column: 9),
      output: (0..<30).map { "GET /items/\($0) 200\n" }.joined() + (userText ?? "Segmentation fault\n")
    )
    return scenario
  }

  private var regressed: ScenarioResult {
    var scenario = scenario("redis-load", .regression, growing: 1_310_720)
    let library = Composition.Library(name: userText ?? "libssl.so.3", resident: .kibibytes(512))
    func composition(heap: Int64) -> Composition {
      Composition(
        anonymous: Bytes(heap + 6_000_000), file: .mebibytes(4), shared: .kibibytes(64), stack: .kibibytes(132),
        heap: Bytes(heap), libraries: [library]
      )
    }
    scenario.reference?.composition = composition(heap: 12_000_000)
    scenario.composition = composition(heap: 13_310_720)
    scenario.compositionAtPeak = composition(heap: 13_400_000)
    if let userText { scenario.metrics[0].reason = .mixedUnits(units: [userText]) }
    return scenario
  }

  private func metric(_ name: MetricName, _ verdict: Verdict, _ rise: Int64) -> MetricResult {
    let base = 22_642_688.0
    return MetricResult(
      rule: GateRule(metric: name, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))), unit: "bytes",
      verdict: verdict == .regression ? .regression : .pass, baseline: .init(median: base, count: 5),
      current: .init(median: base + Double(rise), count: 5),
      change: .init(
        absolute: Double(rise), percent: Double(rise) / base * 100, low: Double(rise) - 8192, high: Double(rise) + 8192),
      allowed: 679_280, detectable: 122_880, resolution: 98_304, method: .ranks,
      reason: verdict == .regression ? .rise : nil
    )
  }

  private func repetition(_ index: Int, rise: Int64) -> RepetitionResult {
    let peak = 22_642_688 + rise + Int64(index - 2) * 8192
    var repetition = RepetitionResult(
      end: End(.exited, code: 0), duration: .milliseconds(1200 + index * 20), processes: 2,
      metrics: [.peakRSS: Double(peak), .steadyRSS: Double(peak - 8192), .growth: 1024],
      growth: Growth(slope: 1024, low: 512, high: 2048, kind: .level), steadiness: .steady,
      phases: [.init(name: userText ?? "load", metrics: [.peakRSS: Double(peak)], peakIsExact: true)],
      widestGap: .milliseconds(12), notes: userText.map { [.threadsNotFollowed(command: $0, count: 64)] } ?? [],
      spike: .init(
        height: .mebibytes(1), after: .milliseconds(80), before: .milliseconds(90), phase: userText ?? "load"),
      largestProcesses: ["server", "worker"].enumerated().map { place, name in
        ProcessRecord(
          id: Int32(4000 + place), parent: 1, command: userText ?? name, isMain: place == 0, peak: Bytes(peak),
          firstSeen: .zero, lastSeen: .seconds(1), isExact: true, ending: .exited(code: 0)
        )
      }
    )
    repetition.curve = curve(index, rise: rise)
    return repetition
  }

  /// Memory that rises for half a second and then stays level.
  private func curve(_ index: Int, rise: Int64) -> MemoryCurve {
    let height = 22_620 + rise / 1024 + Int64(index - 2) * 8
    let points = (0..<110).map { step in
      let filled = min(Int64(step), 45 + Int64(index)) * height / (45 + Int64(index))
      let high = Bytes.kibibytes(max(2048, filled))
      return MemorySeries.Point(
        time: .milliseconds(step * 10), low: step % 7 == 0 ? .kibibytes(high.count / 1024 - 400) : high, high: high)
    }
    return MemoryCurve(
      main: MemorySeries(points),
      tree: MemorySeries(points.map { .init(time: $0.time, low: $0.low, high: $0.high + .mebibytes(3)) }),
      end: .milliseconds(1050),
      phases: [.init(userText ?? "load", at: .milliseconds(20)), .init("serve", at: .milliseconds(520))],
      marks: [.init(userText ?? "filled", at: .milliseconds(510))], iterations: 200,
      peak: .init(height: .kibibytes(height + 22), after: .milliseconds(600), before: .milliseconds(610)),
      steady: .init(
        from: .milliseconds(530), to: .milliseconds(1050), first: .kibibytes(height - 2), last: .kibibytes(height + 2))
    )
  }
}
