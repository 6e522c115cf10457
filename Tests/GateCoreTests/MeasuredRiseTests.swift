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

  private static func rises(_ metrics: [MetricResult]) -> [MeasuredRise] {
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "never", measurement: "traced", kernel: "6.1",
      libc: "glibc 2.36")
    return ScenarioResult(
      name: ScenarioName("load"), verdict: .regression,
      environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), metrics: metrics
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

  @Test("Where no rise is clear, the peak is explained")
  func unclear() {
    let peak = Self.regressed(.peakRSS, by: 8 * Self.mebi, resolution: 5 * Self.mebi)
    let level = Self.regressed(.steadyRSS, by: 2 * Self.mebi, resolution: Self.mebi)
    #expect(Self.rise(peak, level) == MeasuredRise(.peak, amount: .mebibytes(8)))
  }
}
