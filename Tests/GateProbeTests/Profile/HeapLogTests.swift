import GateCore
import Testing

@testable import GateProbe

@Suite("What samplers write about collected heaps")
struct HeapLogTests {
  private static let tree = """
    heap\tnode\t1000
    function\t1\t(anonymous)\t/srv/server.js\t1
    function\t2\tremember\t/srv/store.js\t12
    function\t3\tBuiltin:push\t\t0
    node\t1\t0\t1
    node\t7\t1\t2
    node\t9\t7\t3

    """
  private static let profiles = """
    profile\t2000\t32768
    live\t7\t500
    live\t9\t50
    end
    profile\t4000\t32768
    live\t7\t9000
    end

    """

  private static func log(_ text: String) throws -> HeapLog { try #require(HeapLog(Array(text.utf8))) }

  /// A profile of a process at a time, of which the samplers wrote these logs.
  private static func profile(
    at times: [(process: Int64, time: Int64)], _ logs: [(process: Int64, thread: Int64, log: HeapLog)],
    _ moment: MemoryProfile.Moment = .end
  ) throws -> MemoryProfile {
    let process = "process\tMainThread\tnode\tnode\t\(moment)\t0\t1\t1\t16384\t0\t5000\t4000\t0\t3000\t1000\t0\t0\n"
    let members = times.map { "member\t\($0.process)\t\($0.time)\n" }.joined()
    let text = Array((process + members + "end\n").utf8)
    return try #require(MemoryProfileReader.profiles(in: text, heaps: HeapLogs(logs)).first)
  }

  @Test(
    "A process has the objects of the profile nearest in time, each with its stack and its error",
    arguments: zip([2900, 3100] as [Int64], [[500, 50], [9000]] as [[Int64]]))
  func nearest(time: Int64, bytes: [Int64]) throws {
    let profile = try Self.profile(at: [(7, time)], [(7, 0, try Self.log(Self.tree + Self.profiles))])
    let live = profile.calls.nodes.map(\.weight.live).filter { $0 > 0 }
    #expect(live == bytes && profile.heap == .sampled(Bytes(bytes.reduce(0, +))))
    #expect(profile.calls.nodes.allSatisfy { $0.weight.sampled == 2 * $0.weight.live }, "twice the tree's interval")
    #expect(profile.sum == profile.anonymous, "the pages of objects are a part of what was touched")
    let function = profile.calls.functions[profile.calls.nodes[1].function]
    #expect(function == .init(module: "", name: "remember", file: "/srv/store.js", line: 12))
  }

  @Test("At the peak a process has the most that its heap had")
  func largest() throws {
    let profile = try Self.profile(at: [(7, 2000)], [(7, 0, try Self.log(Self.tree + Self.profiles))], .peak)
    #expect(profile.heap == .sampled(Bytes(9000)))
  }

  @Test("The heaps of threads and of processes of one name add up, but not those that do not exist at the time")
  func threads() throws {
    let log = try Self.log(Self.tree + Self.profiles)
    let ended = try Self.log(Self.tree + Self.profiles + "ended\t3500\n")
    let all = try Self.profile(at: [(7, 4000), (8, 4000)], [(7, 0, log), (7, 1, ended), (8, 0, log), (9, 0, log)])
    #expect(all.heap == .sampled(Bytes(18_000)))
    let early = try Self.profile(at: [(7, 900)], [(7, 0, log)])
    #expect(early.heap == .missing(.noProfile) && early.calls.nodes.isEmpty)
  }

  @Test("Functions of Java on native stacks have the names of the log, and those without one are left out")
  func places() throws {
    let log = try Self.log(Self.tree + "place\t2af\t2\nplace\t3\t0\n")
    let text = """
      process\tjava\tjava\tjava\tend\t0\t1\t1\t16384\t0\t5000\t4000\t0\t0\t0\t0\t0
      function\t1\t\t[java] 7 2af\t\t0\t0
      function\t2\t\t[java] 7 3\t\t0\t0
      function\t3\t\t[java] 8 2af\t\t0\t0
      function\t4\tlibjvm.so\tallocate\t\t0\t0
      node\t1\t0\t0\t0\t0\t3
      node\t2\t1\t0\t0\t0\t1
      node\t3\t2\t0\t0\t0\t2
      node\t4\t3\t900\t0\t900\t4
      end

      """
    let profile = try #require(
      MemoryProfileReader.profiles(in: Array(text.utf8), heaps: HeapLogs([(7, 0, log)])).first)
    let named = profile.calls.nodes.map { profile.calls.functions[$0.function].name }
    #expect(named == ["remember", "allocate"] && profile.calls.nodes.last?.weight.live == 900)
  }

  @Test(
    "Without a complete profile the reason is known",
    arguments: [
      ("refused\n", HeapObstacle.refused), ("profile\t2000\t1\nlive\t7\t5\n", .noProfile), ("", .noProfile),
    ])
  func missing(rest: String, obstacle: HeapObstacle) throws {
    let profile = try Self.profile(at: [(7, 2000)], [(7, 0, try Self.log(Self.tree + rest))])
    #expect(profile.heap == .missing(obstacle) && profile.calls.nodes.isEmpty)
    #expect(try Self.profile(at: [(7, 2000)], []).heap == .missing(.notLoaded))
  }

  @Test(
    "What is cut short or was written by someone else does not count",
    arguments: [
      "profile\t5000\t1\nlive\t7\t77777\n", "live\t7\t77777\n", "\n\t\nnode\t7\t7\t1\nnode\t1\t9\t1\nend\nx",
      "profile\t99999999999999999999\t1\nlive\t7\t77777\nend\n", "node\t5\t6\t1\n", "function\t1\n",
      "profile\t5000\t1\nlive\t77\t77777\nlive\t7\t-3\nlive\t7\t99999999999999\nend\n",
    ])
  func damaged(line: String) throws {
    let profile = try Self.profile(at: [(7, 4000)], [(7, 0, try Self.log(Self.tree + Self.profiles + line))])
    #expect(profile.heap == .sampled(Bytes(9000)))
    #expect(HeapLog(Array(line.utf8)) == nil)
  }
}
