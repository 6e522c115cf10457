import FoundationEssentials
import GateCore
import Testing

@testable import GateProbe

@Suite("Reading a cgroup's memory files")
struct MemoryFolderTests {
  let testProcesses = TestProcesses()

  private func folder(_ version: CgroupVersion, _ files: [String: String]) -> MemoryFolder {
    for (name, text) in files { _ = testProcesses.file(name, text) }
    return MemoryFolder(path: testProcesses.folder, version: version)
  }

  @Test("v2: limit, kills, hits and working set")
  func unified() {
    let folder = folder(
      .v2,
      [
        "memory.max": "104857600\n", "memory.current": "50000\n",
        "memory.events": "low 0\nhigh 0\nmax 42\noom 3\noom_kill 7\noom_group_kill 0\n",
        "memory.events.local": "low 0\nhigh 0\nmax 1\noom 1\noom_kill 2\noom_group_kill 0\n",
        "memory.stat": "anon 30000\nfile 9000\nshmem 4096\nanon_thp 0\nshmem_thp 0\ninactive_file 8000\n",
      ])
    #expect(folder.limit == .mebibytes(100))
    #expect([folder.kills, folder.ownKills, folder.limitHits] == [7, 2, 42])
    #expect(folder.workingSet == Bytes(42_000))
  }

  @Test("v1: limit, kills, hits and working set")
  func legacy() {
    let folder = folder(
      .v1,
      [
        "memory.limit_in_bytes": "104857600\n", "memory.usage_in_bytes": "50000\n", "memory.failcnt": "42\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n",
        "memory.stat": "cache 1\nrss 2\ninactive_file 9\ntotal_inactive_file 8000\n",
      ])
    #expect(folder.limit == .mebibytes(100))
    #expect([folder.kills, folder.ownKills, folder.limitHits] == [7, 7, 42])
    #expect(folder.workingSet == Bytes(42_000))
  }

  @Test(
    "An unlimited cgroup has no limit",
    arguments: [(.v2, "memory.max", "max\n"), (.v1, "memory.limit_in_bytes", "9223372036854771712\n")]
      as [(CgroupVersion, String, String)]
  )
  func unlimited(version: CgroupVersion, file: String, text: String) {
    #expect(folder(version, [file: text]).limit == nil)
  }

  @Test("Missing values are nil", arguments: [CgroupVersion.v1, .v2])
  func missing(version: CgroupVersion) {
    let old = ["memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n", "memory.events": "oom 1\n"]
    let folder = folder(version, old)
    #expect(folder.limit == nil && folder.kills == nil && folder.limitHits == nil && folder.workingSet == nil)
  }

  @Test(
    "The tree's memory is the anonymous and shared memory of the cgroup and its descendants",
    arguments: [
      (.v1, "cache 1\nrss 2\nshmem 3\ntotal_cache 9\ntotal_rss 4096\ntotal_rss_huge 64\ntotal_shmem 8192\n", 12_288),
      (.v2, "anon 4096\nfile 9\nkernel 5\nshmem 8192\nanon_thp 0\nshmem_thp 0\n", 12_288),
      (.v2, "anon 4096\nfile 9\n", nil),
      (.v1, "", nil),
    ] as [(CgroupVersion, String, Int64?)]
  )
  func treeMemory(version: CgroupVersion, text: String, expected: Int64?) {
    guard let reader = CgroupMemoryReader(of: folder(version, ["memory.stat": text])) else {
      Issue.record("cannot open memory.stat")
      return
    }
    #expect(reader.read()?.count == expected)
  }
}
