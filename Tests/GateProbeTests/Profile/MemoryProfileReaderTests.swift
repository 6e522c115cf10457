import GateCore
import Testing

@testable import GateProbe

@Suite("Reading the supervisor's profiles")
struct MemoryProfileReaderTests {
  private static let process =
    "process\tserver\tserver\tserver\tpeak\t0\t2\t1\t65536\t9000000\t5000\t4000\t-300\t200\t100\t70\t60\n"

  private static func profiles(in text: String) -> [MemoryProfile] {
    MemoryProfileReader.profiles(in: Array(text.utf8))
  }

  @Test("A profile has the sampling interval that the run ended with, and the parts of its memory")
  func process() throws {
    let nodes = """
      function\t1\tserver\tmain\tserver.c\t12\t0
      node\t1\t0\t0\t0\t0\t1
      function\t2\t\t[copy-after-fork]\t\t0\t0
      node\t2\t1\t3500\t500\t40\t2

      """
    let profile = try #require(Self.profiles(in: Self.process + nodes + "end\n").first)
    #expect(profile.samplingInterval == Bytes(65536) && profile.allocated == Bytes(9_000_000))
    #expect((profile.processes, profile.peak, profile.anonymous) == (2, Bytes(5000), Bytes(4000)))
    #expect(profile.unattributed == [.noPageFault: Bytes(200), .profiler: Bytes(100)])
    #expect((profile.files, profile.shared) == (Bytes(70), Bytes(60)))
    #expect(profile.sum == profile.anonymous)
    let copied = try #require(profile.calls.nodes.last)
    #expect(
      profile.calls.functions[copied.function] == .copyAfterFork
        && copied.weight == .init(live: 3500, touched: 500, sampled: 40))
    #expect(profile.calls.functions.first == .init(module: "server", name: "main", file: "server.c", line: 12))
  }

  @Test(
    "A program has the name by which it was started, unless it is an interpreter",
    arguments: [
      ("redis-check-rdb", "redis-server", "redis-server"), ("python3.11", "python3", "python3.11"),
      ("python3.11", "app.py", "python3.11"), ("node", "nodejs", "node"), ("server", "", "server"),
    ])
  func startedAs(file: String, name: String, module: String) throws {
    let process = Self.process.replacing("server\tserver\tserver", with: "MainThread\t\(file)\t\(name)")
    let nodes = "function\t1\t\(file)\tmain\t\t0\t0\nnode\t1\t0\t10\t0\t0\t1\n"
    let profile = try #require(Self.profiles(in: process + nodes + "end\n").first)
    #expect(profile.calls.functions.map(\.module) == [module] && profile.process == "MainThread")
    #expect(ProfileSummary([profile])?.startedAs == (name.isEmpty ? "MainThread" : name))
  }

  @Test("Processes share the functions that were written first, and what the profiler allocates is its caller's")
  func functions() {
    let own = "function\t1\tserver\tmain\t\t0\t0\nfunction\t2\tlibhighwater-allocations.so\tmalloc\t\t0\t0\n"
    let nodes = "node\t1\t0\t10\t0\t0\t1\nnode\t2\t1\t5\t0\t0\t2\n"
    let profiles = Self.profiles(in: Self.process + own + nodes + "end\n" + Self.process + nodes + "end\n")
    #expect(profiles.map { $0.calls.functions.map(\.name) } == [["main"], ["main"]])
    #expect(profiles.map(\.calls.total.live) == [15, 15])
  }

  @Test(
    "Lines that cannot be read are skipped",
    arguments: [
      "process\tserver\n", "node\tx\n", "\n", "end\n", "function\t2\ta\tb\t\t0\t0\n", "function\t1\ta\n",
    ])
  func damaged(line: String) {
    let damaged = "node\t1\t0\t-\t0\t0\t1\nnode\t1\t0\t1\t0\t0\t1\nnode\t1\t0\t99999999999999999999\t0\t0\t0\n"
    let profiles = Self.profiles(in: line + Self.process + damaged + "end\n")
    #expect(profiles.count == 1 && profiles[0].calls.nodes.isEmpty)
  }
}
