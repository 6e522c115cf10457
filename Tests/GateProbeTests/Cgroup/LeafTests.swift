import Glibc
import Testing

@testable import GateProbe

@Suite("A leaf for the processes of a cgroup", .timeLimit(.minutes(60)))
struct LeafTests {
  let testProcesses = TestProcesses()

  /// A v2 cgroup in which this process may create others; with the memory controller, if possible.
  static let parent: String? = {
    if let place = try? CgroupSite.current.memory.get(), place.version == .v2 { return place.parent }
    let own = CgroupMap.ofThisProcess.unified?.folders.first
    return own.flatMap { CgroupTrial.attempt(in: $0, needing: "cgroup.procs") == nil ? $0 : nil }
  }()

  private func members(of folder: String) -> String? { SmallFile.text(at: "\(folder)/cgroup.procs") }

  @Test(
    "Processes stay in the leaf until the last runner gives it up; a failed attempt changes nothing",
    .enabled(if: parent != nil, "requires permission to create v2 cgroups")
  )
  func occupying() throws {
    let folder = MemoryFolder(path: "\(try #require(Self.parent))/\(CgroupName.new())", version: .v2)
    try #require(mkdir(folder.path, 0o755) == 0)
    defer { Containment(folders: [folder.path]).remove() }
    let processTree = try testProcesses.python(
      "import time\nopen('\(folder.path)/cgroup.procs', 'w').write('0')\nprint('up', flush=True)\ntime.sleep(1000)")
    #expect(eventually { testProcesses.output == "up\n" })
    let leaf = "\(folder.path)/\(LinuxCalls.leafName)"
    let leader = "\(processTree.leader)\n"

    let leaves = (0..<2).compactMap { _ in try? LinuxCalls.occupyLeaf(of: folder.path) }
    #expect(leaves.count == (folder.lists("memory", in: "cgroup.controllers") ? 2 : 0))
    for occupied in leaves {
      #expect(members(of: leaf) == leader && folder.lists("memory", in: "cgroup.subtree_control"))
      LinuxCalls.giveUp(occupied)
    }
    #expect(members(of: folder.path) == leader && access(leaf, F_OK) != 0)
    #expect(!folder.lists("memory", in: "cgroup.subtree_control"))
    #expect(processTree.killAll() == [])
  }
}
