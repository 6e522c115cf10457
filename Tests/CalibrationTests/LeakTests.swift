import GateCore
import Testing
import calibrate

/// A small version of the table of leaks.
@Suite("What the gate says of leaks")
struct LeakTests {
  private static let checks = 2

  /// In how many checks of five repetitions a leak is told of.
  private func told(_ course: Course, perIteration: Bool) -> Int {
    var chance = Chance(for: "leak test, \(course.name)")
    return (0..<Self.checks).count { _ in
      Replay.reportsLeak((0..<5).map { _ in perIteration ? course.perIteration(&chance) : course.perSecond(&chance) })
    }
  }

  @Test(
    "No plateau, warm-up, sawtooth, wandering level or filling cache is called a leak",
    arguments: Course.sound, [true, false]
  )
  func sound(course: Course, perIteration: Bool) {
    #expect(told(course, perIteration: perIteration) == 0)
  }

  @Test(
    "16 KiB of each of 200 iterations are found, whatever pieces the allocator takes",
    arguments: [16_384.0, 65_536], [4096.0, 135_168]
  )
  func leaks(bytes: Double, piece: Double) {
    #expect(told(.leak(bytes, piece: piece), perIteration: true) == Self.checks)
  }

  @Test("A limit finds a leak of four times as much, and lets one of a quarter pass", arguments: [256.0, 4096])
  func limits(bytes: Double) {
    let gate = Gate(rules: [GateRule(metric: .growth, tolerance: nil, limit: .kibibytes(1))])
    var chance = Chance(for: "limit test, \(bytes)")
    let result = Replay(gate: gate, repetitions: Defaults.repetitions).result([:]) {
      Course.leak(bytes).perIteration(&chance)
    }
    #expect(result.verdict == (bytes > 1024 ? .regression : .pass))
  }
}
