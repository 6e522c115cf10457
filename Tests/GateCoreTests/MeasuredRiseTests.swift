import Testing

@testable import GateCore

@Suite("The rise that profiles explain")
struct MeasuredRiseTests {
  private static func regressed(_ metric: MetricName, by shift: Double, resolution: Double?) -> MetricResult {
    MetricResult(
      rule: GateRule(metric: metric, tolerance: nil, severity: .fail), unit: "bytes", verdict: .regression,
      change: .init(absolute: shift, percent: nil, low: shift, high: shift, shift: shift), resolution: resolution)
  }

  private static func rise(_ metrics: MetricResult...) -> MeasuredRise? { rises(metrics).first }

  private static func rises(_ metrics: [MetricResult], iterations: Int? = nil) -> [MeasuredRise] {
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "never", measurement: "traced", kernel: "6.1",
      libc: "glibc 2.36")
    var repetition = RepetitionResult(end: End(.exited, code: 0), duration: .seconds(1), processes: 1, metrics: [:])
    repetition.growth = iterations.map { Growth(slope: 1, low: 1, high: 1, kind: .continuous, iterations: $0) }
    return ScenarioResult(
      name: ScenarioName("load"), verdict: .regression,
      environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), repetitions: [repetition],
      metrics: metrics, growthIsPerIteration: iterations != nil
    ).measuredRises
  }

  private static let mebi = 1024.0 * 1024

  @Test("A peak that varies nearly as much as it rose gives way to a level that rose clearly")
  func clearest() {
    let peak = Self.regressed(.treePeak, by: 8 * Self.mebi, resolution: 5 * Self.mebi)
    let level = Self.regressed(.treeSteady, by: 2 * Self.mebi, resolution: 0.05 * Self.mebi)
    #expect(Self.rise(peak, level) == MeasuredRise(.steady, amount: .mebibytes(2), isOfTree: true))
    #expect(Self.rise(peak) == MeasuredRise(.peak, amount: .mebibytes(8), isOfTree: true))
  }

  @Test("A clear peak comes before a clearer level, and so does one without a baseline")
  func peak() {
    let level = Self.regressed(.steadyRSS, by: 2 * Self.mebi, resolution: 1)
    for resolution in [0.1 * Self.mebi, nil] {
      let peak = Self.regressed(.peakRSS, by: 8 * Self.mebi, resolution: resolution)
      #expect(Self.rise(peak, level) == MeasuredRise(.peak, amount: .mebibytes(8)))
    }
  }

  @Test("Each kind of rise may be explained, the clear ones first")
  func all() {
    let peak = Self.regressed(.peakRSS, by: 8 * Self.mebi, resolution: 5 * Self.mebi)
    let level = Self.regressed(.steadyRSS, by: 2 * Self.mebi, resolution: 1)
    let growth = Self.regressed(.growth, by: 100, resolution: 1)
    let expected = [
      MeasuredRise(.steady, amount: .mebibytes(2)), MeasuredRise(.growth),
      MeasuredRise(.peak, amount: .mebibytes(8)),
    ]
    #expect(Self.rises([peak, level, growth]) == expected)
  }

  @Test("Growth that makes most of what a level rose by comes before it")
  func levelOfGrowth() {
    let level = Self.regressed(.treeSteady, by: Self.mebi, resolution: 1)
    let growth = Self.regressed(.growth, by: Self.mebi / 200, resolution: 1)
    for (iterations, first) in [(nil, ExplainedRise.steady), (100, .steady), (190, .growth)] {
      #expect(Self.rises([level, growth], iterations: iterations).first?.kind == first)
    }
  }

  @Test("Where no rise is clear, the peak is explained")
  func unclear() {
    let peak = Self.regressed(.peakRSS, by: 8 * Self.mebi, resolution: 5 * Self.mebi)
    let level = Self.regressed(.steadyRSS, by: 2 * Self.mebi, resolution: Self.mebi)
    #expect(Self.rise(peak, level) == MeasuredRise(.peak, amount: .mebibytes(8)))
  }
}
