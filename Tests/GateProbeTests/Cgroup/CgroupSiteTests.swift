import FoundationEssentials
import GateCore
import Testing

@testable import GateProbe

@Suite("Finding a place for cgroups")
struct CgroupSiteTests {
  /// A folder that looks like a v2 hierarchy, with the cgroups `/job/own`; the runner is in the innermost.
  private struct MadeUpTree {
    let testProcesses = TestProcesses()
    var root: String { testProcesses.folder }
    var folders: [String] { ["\(root)/job/own", "\(root)/job", root] }
    var map: CgroupMap {
      CgroupMap(membership: "0::/job/own", mounts: "1 1 0:1 / \(root) rw - cgroup2 cgroup2 rw")
    }

    init() {
      try? FileManager.default.createDirectory(atPath: "\(root)/job/own", withIntermediateDirectories: true)
    }

    func put(_ text: String, _ file: String) {
      _ = testProcesses.file(file, text)
    }

    func text(_ file: String) -> String? {
      SmallFile.text(at: "\(root)/\(file)")
    }
  }

  @Test("Where the memory controller is handed on, the runner's own cgroup is the place for both")
  func own() throws {
    let tree = MadeUpTree()
    tree.put("cpu memory\n", "job/own/cgroup.subtree_control")
    let site = CgroupSite(in: tree.map) { _, _ in nil }
    #expect(try site.memory.get() == CgroupSite.Place(parent: "\(tree.root)/job/own", version: .v2))
    #expect(site.freezer == site.memory)
    let cgroup = try #require(Cgroup(at: site, limit: .mebibytes(64)))
    let folder = "\(tree.root)/job/own/\(cgroup.name)"
    #expect(cgroup.containment.folders == [folder])
    #expect(cgroup.containment.settings == [.init(file: "\(folder)/memory.max", text: "67108864")])
    let killing = [("cgroup.kill", "1"), ("cgroup.freeze", "0")]
    #expect(cgroup.containment.beforeKilling == killing.map { .init(file: "\(folder)/\($0)", text: $1) })
  }

  @Test("Where swap is accounted for, a limit leaves none")
  func swap() throws {
    let tree = MadeUpTree()
    tree.put("memory\n", "job/own/cgroup.subtree_control")
    tree.put("max\n", "job/own/memory.swap.max")
    let cgroup = try #require(Cgroup(at: CgroupSite(in: tree.map) { _, _ in nil }, limit: .mebibytes(1)))
    #expect(cgroup.containment.settings.map(\.text) == ["1048576", "0"])
    #expect(cgroup.containment.settings.last?.file.hasSuffix("/memory.swap.max") == true)
  }

  @Test("A memory controller that is there is handed on")
  func handsOn() throws {
    let tree = MadeUpTree()
    tree.put("memory pids\n", "job/own/cgroup.controllers")
    tree.put("", "job/own/cgroup.subtree_control")
    let site = CgroupSite(in: tree.map) { _, _ in nil }
    #expect(try site.memory.get().parent == tree.folders[0])
    #expect(tree.text("job/own/cgroup.subtree_control") == "+memory")
  }

  @Test("Where the own cgroup will not do, the next one around it is tried, and the first objection is told")
  func upward() throws {
    let tree = MadeUpTree()
    for folder in ["job/own", "job", "."] { tree.put("memory\n", "\(folder)/cgroup.subtree_control") }
    let denied = CgroupSite(in: tree.map) { folder, _ in
      folder == tree.root ? nil : .notPermitted(folder: folder)
    }
    #expect(try denied.memory.get().parent == tree.root)
    let nowhere = CgroupSite(in: tree.map) { folder, _ in .readOnly(folder: folder) }
    #expect(nowhere.memory == .failure(.readOnly(folder: tree.folders[0])))
    #expect(nowhere.freezer == .failure(.readOnly(folder: tree.folders[0])))
    #expect(Cgroup(at: nowhere) == nil)
  }

  @Test("A limit is not escaped: beyond the cgroup that sets one no place is looked for")
  func limits() {
    let tree = MadeUpTree()
    for folder in ["job/own", "job", "."] { tree.put("memory\n", "\(folder)/cgroup.subtree_control") }
    tree.put("1073741824\n", "job/memory.max")
    tree.put("max\n", "job/own/memory.max")
    let site = CgroupSite(in: tree.map) { folder, _ in
      folder == tree.root ? nil : .notPermitted(folder: folder)
    }
    #expect(site.memory == .failure(.notPermitted(folder: tree.folders[0])))
  }

  @Test("Without a memory controller there is still a place to freeze and to kill, but none for a limit")
  func freezerOnly() throws {
    let tree = MadeUpTree()
    tree.put("cpu\n", "job/own/cgroup.controllers")
    let site = CgroupSite(in: tree.map) { _, file in file == "cgroup.freeze" ? nil : .noFile(file, folder: "") }
    #expect(site.memory == .failure(.noMemoryController(folder: tree.folders[0])))
    #expect(try site.freezer.get().parent == tree.folders[0])
    #expect(Cgroup(at: site)?.memory == nil)
    #expect(Cgroup(at: site, limit: .mebibytes(1)) == nil)
  }

  @Test("With the memory of v1 and the freezer of v2, a cgroup lies in both hierarchies")
  func hybrid() throws {
    let map = CgroupMap(
      membership: "4:memory:/a\n6:freezer:/\n0::/b",
      mounts: """
        1 1 0:1 / /m rw - cgroup cgroup rw,memory
        1 1 0:1 / /f rw - cgroup cgroup rw,freezer
        1 1 0:1 / /u rw - cgroup2 cgroup2 rw
        """)
    let both = try #require(Cgroup(at: CgroupSite(in: map) { _, _ in nil }, limit: .mebibytes(2)))
    #expect(both.containment.folders == ["/m/a/\(both.name)", "/u/b/\(both.name)"])
    #expect(both.containment.settings.map(\.text) == ["2097152", "0"])
    let legacy = CgroupSite(in: map) { folder, _ in folder.hasPrefix("/u") ? .notPermitted(folder: folder) : nil }
    let cgroup = try #require(Cgroup(at: legacy))
    #expect(cgroup.containment.folders == ["/m/a/\(cgroup.name)", "/f/\(cgroup.name)"])
    #expect(cgroup.containment.beforeKilling == [.init(file: "/f/\(cgroup.name)/freezer.state", text: "THAWED")])
  }

  @Test("Where nothing is mounted, that is told")
  func nothing() {
    let site = CgroupSite(in: CgroupMap(membership: "", mounts: "")) { _, _ in nil }
    #expect(site.memory == .failure(.notMounted) && site.freezer == .failure(.notMounted))
  }

  @Test("A trial leaves nothing behind, and tells a folder that is no cgroup from one that is not there")
  func trial() {
    let tree = MadeUpTree()
    let attempt = CgroupTrial.attempt(in: "\(tree.root)/job/own", needing: "memory.stat")
    #expect(attempt == .noFile("memory.stat", folder: "\(tree.root)/job/own"))
    #expect((try? FileManager.default.contentsOfDirectory(atPath: "\(tree.root)/job/own")) == [])
    #expect(CgroupTrial.attempt(in: "/sys/fs", needing: "x") != nil)
    let missing = CgroupTrial.attempt(in: "\(tree.root)/none", needing: "x")
    #expect(missing == .failed(folder: "\(tree.root)/none", code: 2))
  }

  @Test("The kernel's error numbers are told apart")
  func codes() {
    let refusals = [30, 13, 1, 95].map { CgroupError(code: $0, folder: "/x") }
    #expect(
      refusals == [
        .readOnly(folder: "/x"), .notPermitted(folder: "/x"), .notPermitted(folder: "/x"),
        .failed(folder: "/x", code: 95),
      ])
  }
}
