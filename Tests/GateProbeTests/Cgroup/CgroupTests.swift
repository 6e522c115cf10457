import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Cgroups", .timeLimit(.minutes(60)))
struct CgroupTests {
  let testProcesses = TestProcesses()

  @Test(
    "The memory is what the processes have touched, within 2 %; shared pages count once",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
  )
  func memory() throws {
    let testCgroup = try #require(TestCgroup())
    guard let reader = CgroupMemoryReader(of: try #require(testCgroup.cgroup.memory)) else {
      Issue.record("the cgroup has no memory.stat")
      return
    }
    let processTree = try testProcesses.python(
      testCgroup.joining + """
        import mmap, os, time
        def touch(size, flags):
          area = mmap.mmap(-1, size, flags=flags | mmap.MAP_ANONYMOUS)
          for at in range(0, size, 4096): area[at] = 1
          return area
        kept = [touch(200 << 20, mmap.MAP_PRIVATE), touch(100 << 20, mmap.MAP_SHARED)]
        for n in range(4):
          if os.fork() == 0:
            sum(kept[1][at] for at in range(0, 100 << 20, 4096))
            print('up', flush=True)
            time.sleep(1000)
        time.sleep(1000)
        """)
    #expect(eventually { testProcesses.output == "up\nup\nup\nup\n" })
    let reading = reader.read()
    let measured = try #require(reading)
    let expected = Bytes.mebibytes(300)
    #expect(abs(measured.count - expected.count) * 50 <= expected.count, "measured \(measured)")
    #expect(processTree.killAll() == [])
    let remaining = reader.read() ?? .zero
    #expect(remaining < .mebibytes(2), "remaining \(remaining)")
  }

  @Test(
    "A program that exceeds the limit is killed, and the cgroup counts the kill and the limit hits",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
  )
  func limit() throws {
    let limit = Bytes.mebibytes(64)
    let testCgroup = try #require(TestCgroup(limit: limit))
    let folder = try #require(testCgroup.cgroup.memory)
    #expect(folder.limit == limit)
    #expect([folder.kills, folder.ownKills, folder.limitHits] == [0, 0, 0])
    let processTree = try testProcesses.python(testCgroup.joining + "kept = bytearray(200 << 20)")
    #expect(processTree.leaderEnding() == .signaled(SIGKILL, coreDumped: false))
    #expect(folder.kills == 1 && folder.ownKills == 1)
    #expect((folder.limitHits ?? 0) > 0)
  }

  @Test(
    "A program below the limit is not killed",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
  )
  func underLimit() throws {
    let testCgroup = try #require(TestCgroup(limit: .mebibytes(64)))
    let processTree = try testProcesses.python(testCgroup.joining + "kept = bytearray(30 << 20)")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(testCgroup.cgroup.memory?.kills == 0)
  }

  @Test(
    "Frozen processes use no CPU time, and continue after the thaw",
    .enabled(if: !CgroupTests.freezers.isEmpty, "requires permission to freeze processes"),
    arguments: freezers
  )
  func freezing(place: CgroupSite.Place) throws {
    let site = CgroupSite(memory: .failure(.notMounted), freezer: .success(place))
    let testCgroup = try #require(TestCgroup(at: site))
    #expect(testCgroup.cgroup.memory == nil)
    let processTree = try testProcesses.python(
      testCgroup.joining + """
        import os
        for n in range(3): os.fork()
        print('up', flush=True)
        while True: pass
        """)
    #expect(eventually { testProcesses.output.split(separator: "\n").count == 8 })
    let ticks = testCgroup.cgroup.whileFrozen(within: .seconds(30)) { () -> [Int] in
      let before = cpuTicks(of: processTree)
      usleep(200_000)
      return [before, cpuTicks(of: processTree)]
    }
    #expect(ticks?.first == ticks?.last && ticks != nil)
    let before = cpuTicks(of: processTree)
    #expect(eventually { cpuTicks(of: processTree) > before })
  }

  /// Nothing else thaws the cgroup: the supervisor's writes before a kill must be enough.
  @Test(
    "Frozen processes can be killed",
    .enabled(if: !CgroupTests.freezers.isEmpty, "requires permission to freeze processes"),
    arguments: freezers
  )
  func killing(place: CgroupSite.Place) throws {
    let testCgroup = try #require(TestCgroup(at: CgroupSite(memory: .failure(.notMounted), freezer: .success(place))))
    let processTree = try testProcesses.python(testCgroup.joining + "print('up', flush=True)\nwhile True: pass")
    #expect(eventually { testProcesses.output == "up\n" })
    #expect(testCgroup.cgroup.freeze(within: .seconds(30)))
    for setting in testCgroup.cgroup.containment.beforeKilling { try? SmallFile.write(setting.text, to: setting.file) }
    processTree.send(.kill, to: processTree.leader)
    #expect(processTree.leaderEnding() == .signaled(SIGKILL, coreDumped: false))
  }

  @Test("If freezing fails, the body does not run")
  func unfreezable() {
    let place = CgroupSite.Place(parent: testProcesses.folder, version: .v2)
    let site = CgroupSite(memory: .failure(.notMounted), freezer: .success(place))
    let cgroup = Cgroup(at: site)
    #expect(cgroup?.whileFrozen { true } == nil)
    #expect(cgroup?.freeze() == false)
  }

  @Test(
    "Folders are removed, and two cgroups have no folder in common",
    .enabled(if: TestCgroup.canCount || TestCgroup.canFreeze, "requires permission to create cgroups")
  )
  func folders() throws {
    var testCgroup = TestCgroup()
    let folders = try #require(testCgroup?.cgroup.containment.folders)
    #expect(!folders.isEmpty && folders.allSatisfy { access($0, F_OK) == 0 })
    #expect(Set(folders).isDisjoint(with: Cgroup(at: .current)?.containment.folders ?? []))
    testCgroup = nil
    #expect(folders.allSatisfy { access($0, F_OK) != 0 })
  }

  /// The freezers of the machine: v2, v1 or both.
  static let freezers: [CgroupSite.Place] = {
    let map = CgroupMap.ofThisProcess
    return [(map.unified, "cgroup.freeze"), (map.legacy("freezer"), "freezer.state")].compactMap { hierarchy, file in
      guard let hierarchy, let own = hierarchy.folders.first else { return nil }
      return CgroupTrial.attempt(in: own, needing: file) == nil
        ? CgroupSite.Place(parent: own, version: hierarchy.version) : nil
    }
  }()

  private func cpuTicks(of processTree: ProcessTree) -> Int {
    processTree.members().reduce(0) { sum, member in
      let text = SmallFile.text(at: "/proc/\(member.pid)/stat") ?? ""
      let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
      return sum + fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
    }
  }
}
