import GateCore
import Testing

@testable import GateProbe

@Suite("Reading the supervisor's profiles")
struct MemoryProfileReaderTests {
  private static let process =
    "process\tserver\tserver\tpeak\t0\t2\t1\t65536\t9000000\t5000\t4000\t-300\t200\t100\t70\t60\n"

  @Test("A profile has the sampling interval that the run ended with, and the parts of its memory")
  func process() throws {
    let nodes = "node\t1\t0\t0\t0\t0\tserver\tmain\t\t0\t0\nnode\t2\t1\t3500\t500\t40\t\t[copy-after-fork]\t\t0\t0\n"
    let profile = try #require(MemoryProfileReader.profiles(in: Self.process + nodes + "end\n").first)
    #expect(profile.samplingInterval == Bytes(65536) && profile.allocated == Bytes(9_000_000))
    #expect((profile.processes, profile.peak, profile.anonymous) == (2, Bytes(5000), Bytes(4000)))
    #expect(profile.unattributed == [.noPageFault: Bytes(200), .profiler: Bytes(100)])
    #expect((profile.files, profile.shared) == (Bytes(70), Bytes(60)))
    #expect(profile.sum == profile.anonymous)
    let copied = try #require(profile.calls.nodes.last)
    #expect(
      profile.calls.functions[copied.function] == .copyAfterFork
        && copied.weight == .init(live: 3500, touched: 500, sampled: 40))
  }

  @Test("Lines that cannot be read are skipped", arguments: ["process\tserver\n", "node\tx\n", "\n", "end\n"])
  func damaged(line: String) {
    let profiles = MemoryProfileReader.profiles(in: line + Self.process + "node\t1\t0\t-\n" + "end\n")
    #expect(profiles.count == 1 && profiles[0].calls.nodes.isEmpty)
  }
}
