import FoundationEssentials
import GateCore
import Testing

@testable import GateProbe

@Suite("Finding a place for cgroups")
struct CgroupSiteTests {
  /// A folder that imitates a v2 hierarchy; the runner is in the cgroup `/job/own`.
  private struct FakeHierarchy {
    let testProcesses = TestProcesses()
    var root: String { testProcesses.folder }
    var folders: [String] { ["\(root)/job/own", "\(root)/job", root] }
    var map: CgroupMap {
      CgroupMap(membership: "0::/job/own", mounts: "1 1 0:1 / \(root) rw - cgroup2 cgroup2 rw")
    }

    init() {
      try? FileManager.default.createDirectory(atPath: "\(root)/job/own", withIntermediateDirectories: true)
    }

    func write(_ text: String, _ file: String) {
      _ = testProcesses.file(file, text)
    }

    func text(_ file: String) -> String? {
      SmallFile.text(at: "\(root)/\(file)")
    }
  }

  @Test("If the memory controller is enabled for children, the runner's own cgroup is the place for both")
  func own() throws {
    let tree = FakeHierarchy()
    tree.write("cpu memory\n", "job/own/cgroup.subtree_control")
    let site = CgroupSite(in: tree.map) { _, _ in nil }
    #expect(try site.memory.get() == CgroupSite.Place(parent: "\(tree.root)/job/own", version: .v2))
    #expect(site.freezer == site.memory)
    let cgroup = try #require(Cgroup(at: site, limit: .mebibytes(64)))
    let folder = "\(tree.root)/job/own/\(cgroup.name)"
    #expect(cgroup.containment.folders == [folder])
    #expect(cgroup.containment.settings == [.init(file: "\(folder)/memory.max", text: "67108864")])
    let settings = [("cgroup.kill", "1"), ("cgroup.freeze", "0")]
    #expect(cgroup.containment.beforeKilling == settings.map { .init(file: "\(folder)/\($0)", text: $1) })
  }

  @Test("With swap accounting, a limit disables swap")
  func swap() throws {
    let tree = FakeHierarchy()
    tree.write("memory\n", "job/own/cgroup.subtree_control")
    tree.write("max\n", "job/own/memory.swap.max")
    let cgroup = try #require(Cgroup(at: CgroupSite(in: tree.map) { _, _ in nil }, limit: .mebibytes(1)))
    #expect(cgroup.containment.settings.map(\.text) == ["1048576", "0"])
    #expect(cgroup.containment.settings.last?.file.hasSuffix("/memory.swap.max") == true)
  }

  @Test("An available memory controller is enabled for children")
  func enablesController() throws {
    let tree = FakeHierarchy()
    tree.write("memory pids\n", "job/own/cgroup.controllers")
    tree.write("", "job/own/cgroup.subtree_control")
    let site = CgroupSite(in: tree.map) { _, _ in nil }
    #expect(try site.memory.get().parent == tree.folders[0])
    #expect(tree.text("job/own/cgroup.subtree_control") == "+memory")
  }

  @Test("A runner in the leaf of another one occupies it as well, and measures beside it")
  func leaf() throws {
    let tree = FakeHierarchy()
    tree.write("memory\n", "job/cgroup.subtree_control")
    let map = CgroupMap(
      membership: "0::/job/\(LinuxCalls.leafName)", mounts: "1 1 0:1 / \(tree.root) rw - cgroup2 cgroup2 rw")
    var occupied: [String] = []
    let site = CgroupSite(in: map, trying: { _, _ in nil }) { folder in
      occupied.append(folder)
      return nil
    }
    #expect(try site.memory.get().parent == "\(tree.root)/job")
    #expect(occupied == ["\(tree.root)/job"])
    #expect(!map.mayMoveProcesses(in: "\(tree.root)/job/\(LinuxCalls.leafName)"))
  }

  @Test("If the own cgroup is unusable, its ancestors are tried, and the first error is reported")
  func ancestors() throws {
    let tree = FakeHierarchy()
    for folder in ["job/own", "job", "."] { tree.write("memory\n", "\(folder)/cgroup.subtree_control") }
    let denied = CgroupSite(in: tree.map) { folder, _ in
      folder == tree.root ? nil : .notPermitted(folder: folder)
    }
    #expect(try denied.memory.get().parent == tree.root)
    let nowhere = CgroupSite(in: tree.map) { folder, _ in .readOnly(folder: folder) }
    #expect(nowhere.memory == .failure(.readOnly(folder: tree.folders[0])))
    #expect(nowhere.freezer == .failure(.readOnly(folder: tree.folders[0])))
    #expect(Cgroup(at: nowhere) == nil)
  }

  @Test("The search stops at a cgroup with a limit, so that the target cannot escape the limit")
  func limits() {
    let tree = FakeHierarchy()
    for folder in ["job/own", "job", "."] { tree.write("memory\n", "\(folder)/cgroup.subtree_control") }
    tree.write("1073741824\n", "job/memory.max")
    tree.write("max\n", "job/own/memory.max")
    let site = CgroupSite(in: tree.map) { folder, _ in
      folder == tree.root ? nil : .notPermitted(folder: folder)
    }
    #expect(site.memory == .failure(.notPermitted(folder: tree.folders[0])))
  }

  @Test("Without a memory controller, a cgroup can still freeze and kill, but not limit memory")
  func freezerOnly() throws {
    let tree = FakeHierarchy()
    tree.write("cpu\n", "job/own/cgroup.controllers")
    let site = CgroupSite(in: tree.map) { _, file in file == "cgroup.freeze" ? nil : .noFile(file: file, folder: "") }
    #expect(site.memory == .failure(.noMemoryController(folder: tree.folders[0])))
    #expect(try site.freezer.get().parent == tree.folders[0])
    #expect(Cgroup(at: site)?.memory == nil)
    #expect(Cgroup(at: site, limit: .mebibytes(1)) == nil)
  }

  @Test("With the memory controller of v1 and the freezer of v2, a cgroup spans both hierarchies")
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

  @Test("Without mounts, the error is notMounted")
  func notMounted() {
    let site = CgroupSite(in: CgroupMap(membership: "", mounts: "")) { _, _ in nil }
    #expect(site.memory == .failure(.notMounted) && site.freezer == .failure(.notMounted))
  }

  @Test("A trial leaves no folder behind, and distinguishes a plain folder from a missing one")
  func trial() {
    let tree = FakeHierarchy()
    let attempt = CgroupTrial.attempt(in: "\(tree.root)/job/own", needing: "memory.stat")
    #expect(attempt == .noFile(file: "memory.stat", folder: "\(tree.root)/job/own"))
    #expect((try? FileManager.default.contentsOfDirectory(atPath: "\(tree.root)/job/own")) == [])
    #expect(CgroupTrial.attempt(in: "/sys/fs", needing: "x") != nil)
    let missing = CgroupTrial.attempt(in: "\(tree.root)/none", needing: "x")
    #expect(missing == .failed(folder: "\(tree.root)/none", code: 2))
  }

  @Test("Error numbers map to errors")
  func codes() {
    let errors = [30, 13, 1, 16, 95].map { CgroupError(code: $0, folder: "/x") }
    #expect(
      errors == [
        .readOnly(folder: "/x"), .notPermitted(folder: "/x"), .notPermitted(folder: "/x"),
        .internalProcesses(folder: "/x"), .failed(folder: "/x", code: 95),
      ])
  }
}
