import GateCore
import Testing

/// Reproducible values with the noise of different programs.
private enum Noisy {
  static let mebibyte = 1_048_576.0

  /// xorshift64* (Vigna 2016), so that a series is the same everywhere.
  struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
      state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    }

    mutating func next() -> UInt64 {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return state &* 0x2545_f491_4f6c_dd1d
    }

    /// Approximately normal with deviation 1: the sum of twelve uniform values, less its mean.
    mutating func normal() -> Double {
      (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
  }

  /// Normal around 100 MiB with a deviation in percent, in whole pages.
  static func normal(percent: Double, count: Int = 20, seed: UInt64 = 7) -> [Double] {
    var numbers = Numbers(seed: seed)
    return (0..<count).map { _ in pages(100 * mebibyte * (1 + percent / 100 * numbers.normal())) }
  }

  static func rule(percent: Double) -> GateRule {
    GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(percent), absolute: nil))
  }

  static func pages(_ value: Double) -> Double { (value / 4096).rounded() * 4096 }

  static func study(
    _ values: [Double],
    metric: MetricName = .peakRSS,
    gate: Gate = .standard,
    variants: [(change: SettingChange, values: [Double])] = []
  ) -> NoiseStudy {
    NoiseStudy(
      of: Given.measurements([metric: values], gate: gate), warmup: 1,
      variants: variants.map { ($0.change, Given.measurements([metric: $0.values], gate: gate)) }
    )
  }

  static func noise(_ values: [Double]) throws -> MetricNoise {
    try #require(study(values)[.peakRSS])
  }
}

@Suite("The noise of a scenario")
struct NoiseStudyTests {
  @Test("The deviation of normal noise is found within a third, and the detectable changes are multiples of it")
  func normal() throws {
    let noise = try Noisy.noise(Noisy.normal(percent: 1))
    let percent = try #require(noise.percent(noise.deviation))
    #expect(percent > 0.67 && percent < 1.33)
    #expect(noise.detectable.map(\.repetitions) == [5, 10, 20])
    // 4.3 √(1/10 + 1/5), 4.0 √(1/10 + 1/10) and 3.925 √(1/10 + 1/20) deviations: the factors of the exact rank test.
    let factors = noise.detectable.map { ($0.size / noise.deviation * 100).rounded() / 100 }
    #expect(factors == [2.36, 1.79, 1.52])
    #expect([noise.range.lowerBound, noise.range.upperBound] == [noise.values.min(), noise.values.max()])
    #expect(noise.shape == NoiseShape.plain)
  }

  @Test("Equal values have a deviation of 0, and a page is used instead")
  func still() throws {
    let noise = try Noisy.noise(Array(repeating: 50 * Noisy.mebibyte, count: 20))
    #expect(noise.deviation == 0)
    #expect(noise.detectable.map { ($0.size / 4096 * 100).rounded() / 100 } == [2.36, 1.79, 1.52])
    #expect(noise.shape == NoiseShape.plain)
  }

  @Test("A bimodal series has two levels, and a check detects changes by the noise within a level")
  func levels() throws {
    var values = Noisy.normal(percent: 0.05)
    for index in [1, 4, 5, 9, 13, 14, 18] { values[index] += 8 * Noisy.mebibyte }
    let noise = try Noisy.noise(values)
    let levels = try #require(noise.shape.levels)
    #expect(levels.highCount == 7)
    #expect(abs(levels.low / Noisy.mebibyte - 100) < 0.1 && abs(levels.high / Noisy.mebibyte - 108) < 0.1)
    #expect(noise.detectable.allSatisfy { $0.size < Noisy.mebibyte / 4 })
    #expect(noise.deviation > Noisy.mebibyte)
    #expect(noise.shape.outliers == 0 && noise.shape.drift == nil)
  }

  @Test("Two neighbouring values are not two levels")
  func neighbours() throws {
    let values = (0..<20).map { 50 * Noisy.mebibyte + ($0 % 3 == 0 ? 4096 : 0) }
    #expect(try Noisy.noise(values).shape == NoiseShape.plain)
  }

  @Test("Outliers are counted but affect neither the deviation nor the advice", arguments: [[7], [3, 11]])
  func outliers(at places: [Int]) throws {
    let quiet = Noisy.normal(percent: 0.1)
    var values = quiet
    for (index, place) in places.enumerated() { values[place] *= 1.4 + Double(index) }
    let (with, without) = (try Noisy.noise(values), try Noisy.noise(quiet))
    #expect(with.shape.outliers == places.count)
    #expect(with.shape.unsettled == 0)
    #expect(with.deviation < 1.5 * without.deviation)
    #expect(with.isQuietEnough(for: .automatic))
  }

  @Test("Each unsettled first repetition needs one more warm-up", arguments: 1...3)
  func unsettled(count: Int) throws {
    var values = Noisy.normal(percent: 0.1)
    for index in 0..<count { values[index] *= 1.12 }
    let study = Noisy.study(values)
    #expect(study[.peakRSS]?.shape.unsettled == count)
    #expect(study.advisedWarmup == 1 + count)
    #expect(study[.peakRSS]?.shape.outliers == 0)
    #expect(study[.peakRSS]?.shape.levels == nil)
  }

  @Test("A drift has a size and a direction", arguments: [4.0, -4])
  func drift(mebibytes: Double) throws {
    let values = Noisy.normal(percent: 0.3).enumerated().map { index, value in
      value + mebibytes * Noisy.mebibyte * Double(index) / 19
    }
    let study = Noisy.study(values)
    let drift = try #require(study[.peakRSS]?.shape.drift)
    #expect(abs(drift / Noisy.mebibyte - mebibytes) < 1.5)
  }

  @Test("Values on a coarse grid have a smallest step")
  func step() throws {
    let steps = [0, 2, 1, 0, 1, 3, 1, 0, 1, 2, 0, 1, 2, 1, 0, 3, 1, 2, 0, 1].map(Double.init)
    let noise = try Noisy.noise(steps.map { 100 * Noisy.mebibyte + $0 * 135_168 })
    #expect(noise.shape.step == 135_168)
    #expect(try Noisy.noise(steps.map { 100 * Noisy.mebibyte + $0 * 8192 }).shape.step == nil)
  }

  @Test(
    "Normal noise rarely has a shape: of 400 series at most 2 % have a drift, unsettled values or levels",
    arguments: [10, 20], [0.02, 1, 4]
  )
  func falseShapes(count: Int, percent: Double) throws {
    let shapes = try (1...400).map { try Noisy.noise(Noisy.normal(percent: percent, count: count, seed: $0)).shape }
    #expect(shapes.count { $0.drift != nil } <= 8)
    #expect(shapes.count { $0.unsettled > 0 } <= 8)
    #expect(shapes.count { $0.levels != nil } <= 8)
    #expect(shapes.count { $0.step != nil } == 0)
  }

  @Test("Fewer than ten values have noise but no shape; a scenario without values is inconclusive")
  func few() throws {
    let noise = try Noisy.noise([1, 2, 3, 40, 5].map { $0 * Noisy.mebibyte })
    #expect(noise.median == 3 * Noisy.mebibyte)
    #expect(noise.shape == NoiseShape.plain)
    #expect(Noisy.study([]).verdict == .inconclusive)
    #expect(Noisy.study([1]).verdict == .pass)
  }

  @Test("A metric that most repetitions lack is left out, with a note")
  func missing() {
    let steady = (0..<10).map { $0 < 4 ? 20 * Noisy.mebibyte : nil }
    let peak: [Double?] = Noisy.normal(percent: 0.1, count: 10)
    let study = NoiseStudy(of: Given.measurements([.peakRSS: peak, .steadyRSS: steady]), warmup: 1)
    #expect(study.metrics.map(\.metric) == [.peakRSS])
    #expect(study.result.notes.contains(.notJudged(metric: .steadyRSS, cause: .seldomSteady(in: 4, of: 10))))
    #expect(study.advisedGate.rules.map(\.metric) == [.peakRSS])
  }
}

@Suite("Comparing a scenario with itself")
struct SelfComparisonTests {
  @Test("Equal halves pass with the scenario's tolerance; its limit is ignored")
  func equal() throws {
    let rule = GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(2), absolute: nil), limit: .mebibytes(1))
    let study = Noisy.study(Noisy.normal(percent: 0.2), gate: Gate(rules: [rule]))
    let comparison = try #require(study.selfComparison)
    #expect(comparison.verdict == .pass)
    #expect(comparison.metrics.map(\.rule.tolerance) == [.bounds(relative: Percent(2), absolute: nil)])
    #expect(comparison.repetitions.count == 10)
  }

  @Test("A jump in the middle is a regression, and excessive noise is inconclusive")
  func unequal() {
    let values = Noisy.normal(percent: 0.2)
    let jump = values.enumerated().map { $0.offset < 10 ? $0.element : $0.element + 9 * Noisy.mebibyte }
    #expect(Noisy.study(jump).selfComparison?.verdict == .regression)
    let noisy = Noisy.study(Noisy.normal(percent: 12), gate: Gate(rules: [Noisy.rule(percent: 3)]))
    #expect(noisy.selfComparison?.verdict == .inconclusive)
  }
}

@Suite("Settings that make a scenario quieter")
struct NoiseVariantTests {
  private func metric(_ values: [Double], beside usual: [Double]) throws -> NoiseVariant.Metric {
    let study = Noisy.study(usual, variants: [(.onlyCPU(0), values)])
    return try #require(study.variants.first?[.peakRSS])
  }

  @Test("A setting that removes most of the noise is quieter, and its shift of the level is known")
  func quieter() throws {
    let quiet = Noisy.normal(percent: 0.1, count: 10, seed: 3).map { $0 + 21 * Noisy.mebibyte }
    let metric = try metric(quiet, beside: Noisy.normal(percent: 1))
    #expect(metric.gain == .quieter)
    #expect(abs(metric.moved / Noisy.mebibyte - 21) < 1)
    #expect(metric.deviation < 0.4 * Noisy.mebibyte)
  }

  @Test("A setting that removes jumps to another level is quieter")
  func oneLevel() throws {
    var jumping = Noisy.normal(percent: 0.05)
    for index in [1, 4, 5, 7, 9, 10, 13, 14, 17, 18] { jumping[index] += 8 * Noisy.mebibyte }
    #expect(try metric(Noisy.normal(percent: 0.05, count: 10, seed: 3), beside: jumping).gain == .quieter)
  }

  /// Peaks of eight allocating threads in MiB, measured on two CPUs and on one.
  @Test("Values without outliers are perhaps quieter than values with a third of outliers")
  func perhaps() throws {
    let usual = [
      16.54, 16.88, 17.11, 18.37, 19.37, 19.44, 21.86, 21.87, 21.99, 21.99, 21.99, 22, 22.09, 22.12, 22.12, 22.22,
      22.24, 22.24, 22.24, 22.37,
    ]
    let onOneCPU = [20.49, 22.12, 22.12, 22.12, 22.12, 22.24, 22.24, 22.24, 22.24, 22.36]
    let gain = try metric(onOneCPU.map { $0 * Noisy.mebibyte }, beside: usual.map { $0 * Noisy.mebibyte }).gain
    #expect(gain == .perhaps)
  }

  @Test("Equal noise, a page less, and a difference that may be chance are no gain")
  func notQuieter() throws {
    #expect(try metric(Noisy.normal(percent: 1, count: 10, seed: 3), beside: Noisy.normal(percent: 1)).gain == .same)
    let still = Array(repeating: 100 * Noisy.mebibyte, count: 10)
    let pages = (0..<20).map { 100 * Noisy.mebibyte + Double($0 % 2) * 4096 }
    #expect(try metric(still, beside: pages).gain == .same)
    let usual = [100, 101, 99, 102, 98].map { $0 * Noisy.mebibyte }
    let half = [100, 100.4, 99.6, 101, 99].map { $0 * Noisy.mebibyte }
    #expect(try metric(half, beside: usual).gain == .same)
  }

  @Test("Of 400 settings without an effect, at most 2 % seem quieter")
  func falseGains() throws {
    let wrong = try (1...400).count { (seed: UInt64) in
      try metric(
        Noisy.normal(percent: 1, count: 10, seed: seed + 5000), beside: Noisy.normal(percent: 1, seed: seed)
      ).gain == .quieter
    }
    #expect(wrong <= 8)
  }

  @Test("A setting that makes the scenario fail has the failure and no metrics")
  func failing() throws {
    var failed = Given.measurements([.peakRSS: [1]])
    failed.failure = Given.failure(End(.crash, signal: .segv))
    let usual = Given.measurements([.peakRSS: Noisy.normal(percent: 1)])
    let study = NoiseStudy(of: usual, warmup: 1, variants: [(.noHugePages, failed)])
    #expect(study.variants.first?.failure == failed.failure)
    #expect(study.variants.first?.metrics == [])
    #expect(study.verdict == .pass)
    #expect(NoiseStudy(of: failed, warmup: 1).verdict == .failed)
  }

  private static let candidates: [(isolation: Isolation, thp: String, cpus: [Int], texts: [String])] = [
    (Isolation(), "madvise", [2, 3], ["aslr: on", "cpus: \"2\"", "thp: off"]),
    (Isolation(), "never", [0], ["aslr: on"]),
    (with { $0.randomAddresses = true }, "always", [0, 1], ["aslr: off", "cpus: \"0\"", "thp: off"]),
    (with { $0.cpus = [1, 3] }, "madvise", [0, 1, 2, 3], ["aslr: on", "cpus: \"1\"", "thp: off"]),
    (
      with {
        $0.cpus = [1]; $0.hugePages = .off
      }, "off", [0, 1], ["aslr: on"]
    ),
  ]

  private static func with(_ change: (inout Isolation) -> Void) -> Isolation {
    var isolation = Isolation()
    change(&isolation)
    return isolation
  }

  @Test("Candidates are settings that the scenario does not have", arguments: candidates)
  func tried(isolation: Isolation, thp: String, cpus: [Int], texts: [String]) {
    let fingerprint = Given.environment { $0.thp = thp }.fingerprint
    let changes = SettingChange.candidates(for: isolation, in: fingerprint, usableCPUs: cpus)
    #expect(changes.map(\.text) == texts)
    #expect(changes.allSatisfy { $0.applied(to: isolation) != isolation })
    let withJobs = SettingChange.candidates(for: isolation, in: fingerprint, usableCPUs: cpus, jobs: 4)
    #expect(withJobs.map(\.text) == texts + ["jobs: 4"])
  }

  @Test("The quieter of two default metrics is found")
  func quieterMetric() {
    func quieter(peak: Double, steady: Double) -> MetricName? {
      let metrics: [MetricName: [Double?]] = [
        .peakRSS: Noisy.normal(percent: peak), .steadyRSS: Noisy.normal(percent: steady, seed: 3).map { $0 / 2 },
      ]
      return NoiseStudy(of: Given.measurements(metrics), warmup: 1).quieterMetric?.quiet.metric
    }
    #expect(quieter(peak: 2, steady: 0.2) == .steadyRSS)
    #expect(quieter(peak: 0.2, steady: 2) == .peakRSS)
    #expect(quieter(peak: 1, steady: 1) == nil)
  }
}

@Suite("The suggested tolerance")
struct NoiseAdviceTests {
  @Test(
    "It allows 2.5 deviations or a little more, in round numbers",
    arguments: [0.0, 0.05, 0.3, 1, 3, 8, 20], [1.0, 40, 2000] as [Double]
  )
  func roundedUp(percent: Double, factor: Double) throws {
    let values = Noisy.normal(percent: percent).map { $0 * factor / 100 }
    let noise = try Noisy.noise(values)
    let advised = try #require(noise.advisedTolerance)
    let given = advised.allowed(above: values, of: noise.metric)
    let needed = max(2.5 * noise.deviation, 0.005 * noise.median, 131_072)
    #expect(given >= needed)
    #expect(given <= 1.25 * needed, "\(advised)")
    #expect(noise.isQuietEnough(for: advised))
  }

  @Test("A quiet program of 40 MiB gets 0.5 %; a metric without a level gets an amount")
  func suggestedTolerance() throws {
    let quiet = try Noisy.noise(Array(repeating: 40 * Noisy.mebibyte, count: 20))
    #expect(quiet.advisedTolerance == .bounds(relative: Percent(0.5), absolute: .kibibytes(128)))
    let gate = Gate(rules: [
      GateRule(metric: .spike, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
    ])
    let spikes = (0..<20).map { $0 < 12 ? 0 : Double($0) * 65_536 }
    let advised = Noisy.study(spikes, metric: .spike, gate: gate)[.spike]?.advisedTolerance
    guard case .bounds(nil, .size(let size)?) = advised else {
      Issue.record("a spike of nothing has no share: \(advised.debugDescription)")
      return
    }
    #expect(size > .mebibytes(1) && size.count % 65_536 == 0)
  }

  @Test(
    "A scenario is too noisy if its gate allows less than 1.5 deviations",
    arguments: [(0.1, 3.0, true), (1.5, 3, true), (2.5, 3, false), (1, 1, false), (2.5, 12, true), (8, 10, false)]
  )
  func quietEnough(percent: Double, tolerance: Double, isQuiet: Bool) {
    let gate = Gate(rules: [Noisy.rule(percent: tolerance)])
    let study = Noisy.study(Noisy.normal(percent: percent), gate: gate)
    #expect(study.tooNoisy.isEmpty == isQuiet)
    #expect(study.standardSuffices == (percent < 6))
  }

  @Test("The suggested gate keeps limits, severities and rules without a tolerance")
  func keepsRules() {
    let gate = Gate(rules: [
      GateRule(
        metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), limit: .mebibytes(200),
        severity: .warn),
      GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
      GateRule(metric: .treePeak, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))),
    ])
    let study = Noisy.study(Array(repeating: 40 * Noisy.mebibyte, count: 10), gate: gate)
    #expect(
      study.advisedGate.rules == [
        GateRule(
          metric: .peakRSS, tolerance: .bounds(relative: Percent(0.5), absolute: .kibibytes(128)),
          limit: .mebibytes(200), severity: .warn
        ),
        gate.rules[1], gate.rules[2],
      ])
    #expect(study.gated.map(\.metric) == [.peakRSS])
  }
}

extension NoiseShape {
  /// Noise without any feature to report.
  fileprivate static let plain = Noisy.study([])[.peakRSS]?.shape ?? Noisy.study([1])[.peakRSS]?.shape
}
