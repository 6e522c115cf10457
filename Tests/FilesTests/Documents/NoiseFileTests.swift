import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Noise studies as JSON")
struct NoiseFileTests {
  private static func measurements(_ peaks: [Double]) -> ScenarioMeasurement {
    let repetitions = peaks.map { peak in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .milliseconds(250), processes: 1,
        metrics: [.peakRSS: peak, .growth: peak == peaks[0] ? 0.5 : 0]
      )
    }
    return ScenarioMeasurement(
      name: ScenarioName("redis-load[clients=50]"), environment: DocumentExamples.environment,
      gate: Gate(rules: [
        GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))),
        GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1)),
      ]),
      repetitions: repetitions, notes: [.comparedWithBuild(build: "another")]
    )
  }

  private static let result: NoiseResult = {
    let jumping = (0..<10).map { 20_971_520 + Double($0 % 2) * 8_388_608 }
    var failed = measurements([1])
    failed.failure = Failure(part: .init(.stop, text: "repetition 1 of 5"), problem: .interrupted, place: nil)
    let study = NoiseStudy(
      of: measurements(jumping), warmup: 1,
      variants: [(.onlyCPU(3), measurements(Array(repeating: 33_554_432, count: 5))), (.noHugePages, failed)]
    )
    return NoiseResult(run: DocumentExamples.result.run, studies: [study, NoiseStudy(of: failed, warmup: 0)])
  }()

  @Test("The file matches the golden file")
  func golden() throws {
    try DocumentGolden.expect(NoiseFile.encode(Self.result, words: .examples), toBe: "noise.json")
  }
}
