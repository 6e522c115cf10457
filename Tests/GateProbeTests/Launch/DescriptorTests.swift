import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Descriptor and process leaks of the runner", .timeLimit(.minutes(60)))
struct DescriptorTests {
  /// The number of open descriptors of this process.
  private static var count: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
  }

  /// In a process of its own, since other tests open descriptors meanwhile.
  @Test("The number of descriptors does not grow with the number of trees and samplers")
  func noLeakedDescriptors() async {
    await #expect(processExitsWith: .success) {
      let testProcesses = TestProcesses()
      let before = Self.count
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
      // Leaks of 400 starts would be 800 descriptors or more; the runtime may keep some.
      #expect(Self.count < before + 20)
    }
  }

  @Test("Supervisors are reaped")
  func noZombies() async {
    await #expect(processExitsWith: .success) {
      let testProcesses = TestProcesses()
      let supervisors = try (0..<20).map { _ in
        let processTree = try testProcesses.processTree("sleep", "1000")
        defer { processTree.killAll() }
        return processTree.supervisor
      }
      // Another process may have the number of an ended one, but no child of this process.
      #expect(supervisors.allSatisfy { ProcessStat(of: $0).map { $0.parent != getpid() } ?? true })
    }
  }
}
