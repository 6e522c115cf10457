import Testing

@testable import GateProbe

@Suite("The runner's position in the cgroup hierarchies")
struct CgroupMapTests {
  private func mount(_ root: String, _ point: String, _ kind: String) -> String {
    "35 31 0:32 \(root) \(point) rw,relatime shared:9 - \(kind)"
  }

  @Test("A v1 hierarchy is found by its controller, with the ancestors of the runner's own cgroup")
  func legacy() throws {
    let map = CgroupMap(
      membership: "9:name=systemd:/x\n4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/\n",
      mounts: [
        mount("/", "/sys/fs/cgroup", "tmpfs tmpfs rw,mode=755"),
        mount("/", "/sys/fs/cgroup/memory", "cgroup cgroup rw,memory"),
        mount("/", "/sys/fs/cgroup/cpu,cpuacct", "cgroup cgroup rw,cpu,cpuacct"),
        mount("/", "/sys/fs/cgroup/systemd", "cgroup cgroup rw,xattr,name=systemd"),
        mount("/", "/sys/fs/cgroup/unified", "cgroup2 cgroup2 rw,nsdelegate"),
      ].joined(separator: "\n"))
    let memory = try #require(map.legacy("memory"))
    #expect(
      memory.folders
        == ["/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/memory/jobs", "/sys/fs/cgroup/memory"])
    #expect(map.memory == memory && memory.version == .v1)
    #expect(map.legacy("cpuacct")?.folders == ["/sys/fs/cgroup/cpu,cpuacct"])
    #expect(map.unified?.folders == ["/sys/fs/cgroup/unified"])
    #expect(map.legacy("freezer") == nil)
  }

  @Test("Without a v1 hierarchy for memory, v2 is used")
  func unified() {
    let map = CgroupMap(membership: "0::/user.slice/a:b\n", mounts: mount("/", "/sys/fs/cgroup", "cgroup2 cgroup rw"))
    let folders = ["/sys/fs/cgroup/user.slice/a:b", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]
    #expect(map.memory?.folders == folders)
    #expect(map.memory?.version == .v2)
  }

  @Test("Where v1 has the memory controller outside of this namespace, v2 is no place for it")
  func hidden() {
    let map = CgroupMap(membership: "4:memory:/../job\n0::/\n", mounts: mount("/", "/c", "cgroup2 cgroup rw"))
    #expect(map.memory == nil && map.unified?.folders == ["/c"])
  }

  @Test(
    "Folders of a partial mount are relative to the mounted root",
    arguments: [
      ("/docker/1f", "/docker/1f", ["/m"]),
      ("/docker/1f/job", "/docker/1f", ["/m/job", "/m"]),
      ("/", "/", ["/m"]),
      ("/docker/1ff", "/docker/1f", nil),
      ("/docker", "/docker/1f", nil),
      ("/../other", "/", nil),
      ("/job", "/../..", nil),
    ] as [(String, String, [String]?)]
  )
  func partialMounts(own: String, root: String, folders: [String]?) {
    let map = CgroupMap(membership: "3:memory:\(own)", mounts: mount(root, "/m", "cgroup cgroup rw,memory"))
    #expect(map.memory?.folders == folders)
  }

  @Test("Octal escapes in mount paths are decoded")
  func escapes() {
    let mounts = mount(#"/a\040b"#, #"/my\040mounts\134x"#, "cgroup2 cgroup2 rw")
    #expect(CgroupMap(membership: "0::/a b/c", mounts: mounts).unified?.folders.first == #"/my mounts\x/c"#)
  }

  @Test("Of several mounts of a hierarchy, the first that contains the runner is used")
  func severalMounts() {
    let mounts = mount("/b", "/b", "cgroup2 cgroup2 rw") + "\n" + mount("/a", "/a", "cgroup2 cgroup2 rw")
    #expect(CgroupMap(membership: "0::/a", mounts: mounts).unified?.folders == ["/a"])
  }

  @Test(
    "Malformed text yields no hierarchy",
    arguments: ["", "x", "0:", "a - b", "- - -", "0::rel", "0::/a\n1 1 0:1 / /x/../y rw - cgroup2 c rw"])
  func malformed(text: String) {
    #expect(CgroupMap(membership: text, mounts: text).hierarchies.isEmpty)
  }

  @Test("The first folder of each hierarchy lists this process")
  func real() {
    for hierarchy in CgroupMap.ofThisProcess.hierarchies {
      let own = hierarchy.folders.first ?? ""
      let processes = SmallFile.text(at: "\(own)/cgroup.procs", atMost: 1 << 20) ?? ""
      #expect(processes.split(separator: "\n").contains("\(ownProcess)"), "\(own)")
    }
  }
}
