import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Descriptors and processes of the runner", .timeLimit(.minutes(5)))
struct DescriptorTests {
  /// The descriptors of this process that are pipes or files under `/proc`, by what they point at.
  ///
  /// Other tests run beside this one, so what counts is that the number does not grow with the trees.
  private var count: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
  }

  @Test("They do not grow with the number of trees and samplers")
  func doNotGrow() throws {
    let testProcesses = TestProcesses()
    let before = count
    for _ in 0..<200 {
      let processTree = try testProcesses.processTree("true")
      let sampler = Sampler(processTree: processTree, interval: .milliseconds(10), main: nil)
      sampler.start()
      #expect(processTree.leaderEnding() == .exited(0))
      sampler.stop()
    }
    for _ in 0..<200 {
      #expect(throws: LaunchError.self) { try testProcesses.processTree("/no/such/program") }
    }
    // 400 starts would leave 800 descriptors and more; the tests that run beside hold some tens.
    #expect(eventually { count < before + 100 }, "\(before) before, \(count) after")
  }

  @Test("No supervisor is left as a zombie")
  func noZombies() throws {
    let testProcesses = TestProcesses()
    let supervisors = try (0..<20).map { _ in
      let processTree = try testProcesses.processTree("sleep", "1000")
      defer { processTree.killAll() }
      return processTree.supervisor
    }
    #expect(supervisors.allSatisfy { ProcessStat(of: $0).map { $0.command != "hw-supervisor" } ?? true })
  }
}
