import GateCore
import Testing
import calibrate

/// A small part of the table of leaks.
@Suite("Leak detection")
struct LeakTests {
  private static let checks = 2

  /// The number of checks, of five repetitions each, that report a leak.
  private func reports(of run: SimulatedRun, perIteration: Bool) -> Int {
    var chance = Chance(for: "leak test, \(run.name)")
    return (0..<Self.checks).count { _ in
      Replay.reportsLeak((0..<5).map { _ in perIteration ? run.perIteration(&chance) : run.perSecond(&chance) })
    }
  }

  @Test(
    "A plateau, warm-up, sawtooth, wandering level or filling cache is not reported as a leak",
    arguments: SimulatedRun.withoutLeak, [true, false]
  )
  func withoutLeak(run: SimulatedRun, perIteration: Bool) {
    #expect(reports(of: run, perIteration: perIteration) == 0)
  }

  @Test(
    "A leak of 16 KiB in each of 200 iterations is found, whatever the allocator's chunk size",
    arguments: [16_384.0, 65_536], [4096.0, 135_168]
  )
  func leaks(bytes: Double, piece: Double) {
    #expect(reports(of: .leak(bytes, piece: piece), perIteration: true) == Self.checks)
  }

  @Test(
    "A limit finds a leak of four times its size, and a leak of a quarter of its size passes", arguments: [256.0, 4096])
  func limits(bytes: Double) {
    let gate = Gate(rules: [GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1))])
    var chance = Chance(for: "limit test, \(bytes)")
    let result = Replay(gate: gate, repetitions: Defaults.repetitions).result([:]) {
      SimulatedRun.leak(bytes).perIteration(&chance)
    }
    #expect(result.verdict == (bytes > 1024 ? .regression : .pass))
  }
}
