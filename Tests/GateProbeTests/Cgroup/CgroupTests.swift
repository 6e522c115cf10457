import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("The cgroup of a repetition", .timeLimit(.minutes(5)))
struct CgroupTests {
  let testProcesses = TestProcesses()

  @Test(
    "Its memory is what its processes have touched, shared pages once, within 2 %",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here")
  )
  func memory() throws {
    let made = try #require(MadeCgroup())
    guard let reader = CgroupMemoryReader(of: try #require(made.cgroup.memory)) else {
      Issue.record("the cgroup has no memory.stat")
      return
    }
    let processTree = try testProcesses.python(
      made.joining + """
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
    let seen = try #require(reading)
    let expected = Bytes.mebibytes(300)
    #expect(abs(seen.count - expected.count) * 50 <= expected.count, "seen \(seen)")
    #expect(processTree.killAll() == [])
    let left = reader.read() ?? .zero
    #expect(left < .mebibytes(2), "left \(left)")
  }

  @Test(
    "A program that needs more than the limit is killed, and the cgroup counts that and the hits of its limit",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here")
  )
  func limit() throws {
    let limit = Bytes.mebibytes(64)
    let made = try #require(MadeCgroup(limit: limit))
    let folder = try #require(made.cgroup.memory)
    #expect(folder.limit == limit)
    #expect([folder.kills, folder.ownKills, folder.limitHits] == [0, 0, 0])
    let processTree = try testProcesses.python(made.joining + "kept = bytearray(200 << 20)")
    #expect(processTree.leaderEnding() == .signaled(SIGKILL, coreDumped: false))
    #expect(folder.kills == 1 && folder.ownKills == 1)
    #expect((folder.limitHits ?? 0) > 0)
  }

  @Test(
    "Under the limit nothing is killed",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here")
  )
  func underLimit() throws {
    let made = try #require(MadeCgroup(limit: .mebibytes(64)))
    let processTree = try testProcesses.python(made.joining + "kept = bytearray(30 << 20)")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(made.cgroup.memory?.kills == 0)
  }

  @Test(
    "Frozen processes stand still, and run on afterwards",
    .enabled(if: !CgroupTests.freezers.isEmpty, "no process can be frozen here"),
    arguments: freezers
  )
  func freezing(place: CgroupSite.Place) throws {
    let site = CgroupSite(memory: .failure(.notMounted), freezer: .success(place))
    let made = try #require(MadeCgroup(at: site))
    #expect(made.cgroup.memory == nil)
    let processTree = try testProcesses.python(
      made.joining + """
        import os
        for n in range(3): os.fork()
        print('up', flush=True)
        while True: pass
        """)
    #expect(eventually { testProcesses.output.split(separator: "\n").count == 8 })
    let spent = made.cgroup.whileFrozen(within: .seconds(30)) { () -> [Int] in
      let before = cpuTicks(of: processTree)
      usleep(200_000)
      return [before, cpuTicks(of: processTree)]
    }
    #expect(spent?.first == spent?.last && spent != nil)
    let before = cpuTicks(of: processTree)
    #expect(eventually { cpuTicks(of: processTree) > before })
  }

  /// Frozen for good where nobody thaws it: what the supervisor writes before it kills must be enough.
  @Test(
    "What is frozen can be killed",
    .enabled(if: !CgroupTests.freezers.isEmpty, "no process can be frozen here"),
    arguments: freezers
  )
  func killing(place: CgroupSite.Place) throws {
    let made = try #require(MadeCgroup(at: CgroupSite(memory: .failure(.notMounted), freezer: .success(place))))
    let processTree = try testProcesses.python(made.joining + "print('up', flush=True)\nwhile True: pass")
    #expect(eventually { testProcesses.output == "up\n" })
    #expect(made.cgroup.freeze(within: .seconds(30)))
    for setting in made.cgroup.containment.beforeKilling { try? SmallFile.write(setting.text, to: setting.file) }
    processTree.send(.kill, to: processTree.leader)
    #expect(processTree.leaderEnding() == .signaled(SIGKILL, coreDumped: false))
  }

  @Test("Where nothing can be frozen, the body does not run")
  func unfreezable() {
    let place = CgroupSite.Place(parent: testProcesses.folder, version: .v2)
    let site = CgroupSite(memory: .failure(.notMounted), freezer: .success(place))
    let cgroup = Cgroup(at: site)
    #expect(cgroup?.whileFrozen { true } == nil)
    #expect(cgroup?.freeze() == false)
  }

  @Test(
    "What is made is removed, and of two cgroups no folder is the same",
    .enabled(if: MadeCgroup.canCount || MadeCgroup.canFreeze, "no cgroup can be made here")
  )
  func folders() throws {
    var made = MadeCgroup()
    let folders = try #require(made?.cgroup.containment.folders)
    #expect(!folders.isEmpty && folders.allSatisfy { access($0, F_OK) == 0 })
    #expect(Set(folders).isDisjoint(with: Cgroup(at: .current)?.containment.folders ?? []))
    made = nil
    #expect(folders.allSatisfy { access($0, F_OK) != 0 })
  }

  /// Both kinds of freezer, where the machine has them.
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
