import GateCore
import Testing

@testable import GateApplication

@Suite("The noise report")
struct NoiseReportTests {
  private static let mebibyte = 1_048_576.0

  /// Deviations from a level, in pages, of 20 runs of a quiet program.
  private static let pages: [Double] = [0, 1, -1, 0, 2, 0, -2, 1, 0, -1, 0, 1, 0, -1, 0, 2, 1, 0, -1, 0]

  /// Deviations of 20 runs of a noisy program, all different.
  private static let jitter: [Double] = [
    3, -7, 12, -2, 9, -15, 5, -11, 1, 8, -4, 14, -9, 2, -13, 6, -1, 10, -6, 4,
  ]

  private static func noisyValues(_ mebibytes: Double, factor: Double, count: Int = 20) -> [Double] {
    jitter.prefix(count).map { mebibytes * mebibyte + $0 * 4096 * factor }
  }

  /// Values around a level; `factor` scales their spread.
  private static func values(_ mebibytes: Double, factor: Double = 1, count: Int = 20) -> [Double] {
    pages.prefix(count).map { mebibytes * mebibyte + $0 * 4096 * factor }
  }

  private static func measurements(
    _ name: String,
    _ metrics: [MetricName: [Double]],
    gate: Gate = .standard,
    processes: Int = 1,
    failure: Failure? = nil,
    notes: [Note] = []
  ) -> ScenarioMeasurement {
    let count = metrics.values.map(\.count).max() ?? 0
    let repetitions = (0..<count).map { index in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .milliseconds(1200), processes: processes,
        metrics: metrics.compactMapValues { index < $0.count ? $0[index] : nil }
      )
    }
    return ScenarioMeasurement(
      name: ScenarioName(name), environment: Fixture.environment, gate: gate, repetitions: repetitions,
      failure: failure, notes: notes
    )
  }

  private static func variants(
    _ levels: [(change: SettingChange, peak: Double, factor: Double)]
  ) -> [(change: SettingChange, measurements: ScenarioMeasurement)] {
    levels.map { change, peak, factor in
      (change, measurements("variant", [.peakRSS: values(peak, factor: factor, count: 10)]))
    }
  }

  private static let quiet = NoiseStudy(
    of: measurements(
      "sqlite-sort", [.peakRSS: values(40), .steadyRSS: values(38), .growth: Array(repeating: 0, count: 20)]
    ),
    warmup: 1,
    variants: variants([
      (.randomAddresses(true), 40, 30), (.onlyCPU(0), 40, 1), (.noHugePages, 40, 1), (.jobs(2), 40, 1),
    ])
  )

  private static let noisy: NoiseStudy = {
    let gate = Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(1), absolute: nil)),
      GateRule(
        metric: .treePeak, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), limit: .mebibytes(300),
        severity: .warn),
      GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
    ])
    var peaks = noisyValues(61, factor: 16)
    peaks[0] += 9 * mebibyte
    let trees = values(120).enumerated().map { index, value in value + Double(index) * 0.5 * mebibyte }
    var failing = measurements("variant", [.peakRSS: [1]])
    failing.failure = Fixture.failure(of: End(.crash, signal: .segv))
    return NoiseStudy(
      of: measurements(
        "java-server", [.peakRSS: peaks, .steadyRSS: values(55), .treePeak: trees], gate: gate, processes: 4,
        notes: [.machine(note: .noTracing(barrier: .yama(scope: 2)))]
      ),
      warmup: 1,
      variants: [(.randomAddresses(true), measurements("variant", [.peakRSS: noisyValues(61, factor: 12, count: 10)]))]
        + variants([(.onlyCPU(0), 74, 2)]) + [(.noHugePages, failing)]
    )
  }()

  private static let odd: NoiseStudy = {
    var jumping = values(58.4)
    for index in [1, 5, 6, 9, 13, 17] { jumping[index] += 8 * mebibyte }
    var far = values(30)
    (far[4], far[11]) = (far[4] - 3 * mebibyte, far[11] + 5 * mebibyte)
    let steps = [0, 2, 1, 0, 1, 3, 1, 0, 1, 2, 0, 1, 2, 1, 0, 3, 1, 2, 0, 1].map { 20 * mebibyte + $0 * 135_168 }
    let gate = Gate(
      rules: [.peakRSS, .steadyRSS, .phase("load", .peakRSS)].map {
        GateRule(metric: $0, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
      }
    )
    var plain = measurements("allocator", [.peakRSS: jumping, .steadyRSS: far], gate: gate)
    for index in steps.indices {
      plain.repetitions[index].phases = [.init(name: "load", metrics: [.peakRSS: steps[index]])]
    }
    return NoiseStudy(of: plain, warmup: 0)
  }()

  private static let collected: NoiseStudy = {
    var measured = measurements("api", [.peakRSS: noisyValues(61, factor: 64)])
    measured.composition = Composition(anonymous: .mebibytes(50), file: .mebibytes(11), shared: .zero)
    measured.composition?.runtime = .java
    return NoiseStudy(of: measured, warmup: 1, variants: variants([(.jobs(4), 66, 20)]))
  }()

  private static let failed = NoiseStudy(
    of: measurements(
      "api-server", [.peakRSS: [8e6]],
      failure: Failure(
        attempt: .init(number: 1, of: 1, isWarmup: true),
        problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: End(.exited, code: 3),
        place: SourcePlace(file: "highwater.yml", line: 4, column: 5), output: "no such table: t\n"
      )
    ),
    warmup: 1
  )

  /// Reported values: a quiet count, a noisy time and a negative number.
  private static let reporting: NoiseStudy = {
    let (entries, wait, balance) = (MetricName.value("entries"), MetricName.value("wait"), MetricName.value("balance"))
    let gate = Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))),
      GateRule(metric: entries, tolerance: .bounds(relative: Percent(3), absolute: .number(10)), limit: .number(2000)),
      GateRule(metric: wait, tolerance: .standard(of: wait)), GateRule(metric: balance, tolerance: .automatic),
    ])
    var measured = measurements(
      "cache",
      [
        .peakRSS: values(40), entries: pages.map { 1250 + $0 }, wait: jitter.map { 0.0125 + $0 / 5000 },
        balance: jitter.map { $0 / 100 - 2.5 },
      ], gate: gate)
    for index in measured.repetitions.indices {
      measured.repetitions[index].units = [entries: "items", wait: "seconds", balance: "EUR"]
    }
    return NoiseStudy(of: measured, warmup: 1)
  }()

  private static let silent = NoiseStudy(of: measurements("blink", [.faultRate: [1e6]]), warmup: 0)

  private static func text(
    _ studies: [NoiseStudy],
    style: TerminalStyle = TerminalStyle(),
    detail: SummaryContext.Detail = .normal
  ) -> String {
    let result = NoiseResult(run: Fixture.run, studies: studies)
    var context = SummaryContext(detail: detail, exitCode: result.verdict.exitCode)
    context.outputs[failed.name] = ".highwater/noise/output/api-server/0.log"
    return NoiseReport.text(result, style: style, context: context)
  }

  private static let cases: [(name: String, studies: [NoiseStudy])] = [
    ("quiet", [quiet]), ("noisy", [noisy]), ("odd", [odd]), ("failed", [quiet, failed]), ("silent", [silent]),
    ("values", [reporting]), ("collected", [collected]),
  ]

  @Test("The reports match the golden files", arguments: cases)
  func golden(name: String, studies: [NoiseStudy]) throws {
    try Golden.expect(Self.text(studies), "noise-\(name).txt")
  }

  @Test("The ASCII, verbose and quiet reports match the golden files")
  func goldenStyles() throws {
    try Golden.expect(
      Self.text([Self.noisy], style: TerminalStyle(unicode: false)), "noise-ascii.txt")
    try Golden.expect(Self.text([Self.noisy], detail: .verbose), "noise-verbose.txt")
    try Golden.expect(Self.text([Self.quiet, Self.noisy], detail: .quiet), "noise-brief.txt")
    let ascii = Self.text([Self.odd, Self.noisy, Self.failed, Self.reporting], style: TerminalStyle(unicode: false))
    #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test("Every line fits the width, and every scenario fits 36 lines", arguments: cases)
  func size(name: String, studies: [NoiseStudy]) {
    for columns in [40, 80, 120] {
      let lines = Self.text(studies, style: TerminalStyle(width: columns)).split(separator: "\n")
      // Settings and paths to copy are never cut.
      #expect(
        lines.filter {
          Terminal.columns($0) > columns && !$0.contains(": [") && !$0.contains(": {") && !$0.contains("output/")
        } == [])
      if columns == 80 { #expect(lines.count <= 36 * studies.count) }
    }
  }

  /// Peaks of eight allocating threads in MiB, measured on two CPUs and on one.
  @Test("A setting that may be quieter is reported as uncertain")
  func perhaps() {
    let usual = [
      16.54, 16.88, 17.11, 18.37, 19.37, 19.44, 21.86, 21.87, 21.99, 21.99, 21.99, 22, 22.09, 22.12, 22.12, 22.22,
      22.24, 22.24, 22.24, 22.37,
    ]
    let onOneCPU = [20.49, 22.12, 22.12, 22.12, 22.12, 22.24, 22.24, 22.24, 22.24, 22.36]
    func threads(_ peaks: [Double]) -> ScenarioMeasurement {
      Self.measurements("threads", [.peakRSS: peaks.map { $0 * Self.mebibyte }])
    }
    let study = NoiseStudy(of: threads(usual), warmup: 0, variants: [(.onlyCPU(0), threads(onOneCPU))])
    let report = Self.text([study]).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let gain = "(more repetitions needed): the standard deviation of peak_rss drops from 2.0 MiB to 91.1 KiB"
    #expect(report.contains("perhaps quieter with `isolation: {cpus: \"0\"}` \(gain)"), "\(report)")
    #expect(!report.contains("not much quieter"))
  }

  @Test("Control characters in names are escaped")
  func hostile() {
    let study = NoiseStudy(
      of: Self.measurements(
        Fixture.hostileName, [.peakRSS: Self.values(40)], notes: [.comparedWithBuild(build: Fixture.hostileName)]),
      warmup: 0
    )
    let text = Self.text([study])
    #expect(!text.contains { $0 == "\u{1b}" || $0 == "\r" || $0 == "\u{202e}" })
  }
}
