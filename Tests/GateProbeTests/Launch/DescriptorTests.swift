import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Descriptors and processes of the runner", .timeLimit(.minutes(5)))
struct DescriptorTests {
  /// The descriptors of this process that are pipes or files under `/proc`, by what they point at.
  ///
  /// Other tests run beside this one, so what counts is that the number does not grow with the families.
  private var count: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
  }

  @Test("They do not grow with the number of families and samplers")
  func doNotGrow() throws {
    let household = Household()
    let before = count
    for _ in 0..<200 {
      let family = try household.family("true")
      let sampler = Sampler(family: family, interval: .milliseconds(10), main: nil)
      sampler.start()
      #expect(family.leaderEnding() == .exited(0))
      sampler.stop()
    }
    for _ in 0..<200 {
      #expect(throws: LaunchError.self) { try household.family("/no/such/program") }
    }
    // 400 starts would leave 800 descriptors and more; the tests that run beside hold some tens.
    #expect(eventually { count < before + 100 }, "\(before) before, \(count) after")
  }

  @Test("No shepherd is left as a zombie")
  func noZombies() throws {
    let household = Household()
    let shepherds = try (0..<20).map { _ in
      let family = try household.family("sleep", "1000")
      defer { family.disperse() }
      return family.shepherd
    }
    #expect(shepherds.allSatisfy { ProcessStat(of: $0).map { $0.command != "hw-shepherd" } ?? true })
  }
}
