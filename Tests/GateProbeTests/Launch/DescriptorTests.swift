import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Descriptor and process leaks of the runner", .timeLimit(.minutes(60)))
struct DescriptorTests {
  /// The number of open descriptors; other tests run in parallel, so only growth with the number of trees matters.
  private var count: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
  }

  @Test("The number of descriptors does not grow with the number of trees and samplers")
  func noLeakedDescriptors() throws {
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
    // Leaks of 400 starts would be 800 descriptors or more; tests that run in parallel have some tens open.
    #expect(eventually { count < before + 100 }, "\(before) before, \(count) after")
  }

  @Test("Supervisors are reaped")
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
