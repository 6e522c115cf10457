import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

@Suite("Reading the state of the process and the machine")
struct SystemFoldersTests {
  private let folder: TestFolder
  private var folders = SystemFolders()

  init() throws {
    folder = try TestFolder()
    folders.proc = folder.path
    folders.own = folder.file("self")
    (folders.osRelease, folders.fallbackOSRelease) = (folder.file("missing"), folder.file("os-release"))
    try folder.write("4711 (a) b) (c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0", to: "self/stat")
    try folder.write("Name:\ta\nTracerPid:\t12\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n", to: "self/status")
    try folder.write("boot\n", to: "sys/kernel/random/boot_id")
    try folder.write("6.1.0\n", to: "sys/kernel/osrelease")
    try folder.write("ID=debian\nPRETTY_NAME=\"Debian 12\"\n", to: "os-release")
  }

  @Test("A run has a PID and a start time; the machine has a boot ID, a kernel and a system")
  func run() {
    let found = folders.currentRun(appVersion: "1.0")
    #expect(found.pid == 4711)
    #expect(found.startTime == 98765)
    #expect(found.bootID == "boot")
    #expect(found.kernelRelease == "6.1.0")
    #expect(found.osRelease.hasPrefix("Debian 12 "))
    #expect(found.cgroup == "" && found.cgroupInode == 0)
  }

  @Test("A point release with the same name is another system")
  func osRelease() throws {
    let before = folders.currentRun(appVersion: "").osRelease
    try folder.write("ID=debian\nPRETTY_NAME=\"Debian 12\"\nBUILD_ID=2\n", to: "os-release")
    #expect(folders.currentRun(appVersion: "").osRelease != before)
  }

  @Test("A process is alive if its PID has the same start time and is not a zombie")
  func alive() throws {
    var run = LaunchRecord.Run()
    (run.pid, run.startTime) = (5, 98765)
    #expect(!folders.isAlive(run))
    let rest = "1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0"
    try folder.write("5 (x) S \(rest)", to: "5/stat")
    #expect(folders.isAlive(run))
    try folder.write("5 (x) Z \(rest)", to: "5/stat")
    #expect(!folders.isAlive(run))
    run.startTime = 98764
    try folder.write("5 (x) S \(rest)", to: "5/stat")
    #expect(!folders.isAlive(run))
  }

  @Test("Memory, tracer and the machine's pressure are read")
  func reading() throws {
    try folder.write("some avg10=9.00\nfull avg10=12.50 avg60=1.00 avg300=0.00 total=1\n", to: "pressure/memory")
    let reading = folders.reading(cgroup: "")
    #expect(reading.resident == 1 << 20)
    #expect(reading.peakResident == 2 << 20)
    #expect(reading.tracer == 12)
    #expect(reading.pressure == 12.5)
    #expect(reading.limit == nil && reading.oomKills == nil)
    #expect(reading.bootTime > 0 && reading.wallTime > 0)
  }

  @Test("If nothing can be read, values are empty, and nothing fails")
  func nothing() {
    var folders = folders
    folders.proc = "/nowhere"
    folders.own = "/nowhere/self"
    let found = folders.currentRun(appVersion: "1")
    #expect(found.pid == getpid() && found.bootID == "")
    #expect(folders.reading(cgroup: "/nowhere").resident == 0)
  }

  @Test("A cgroup of version 2, with the lowest limit of its ancestors, its own kills and pressure")
  func unified() throws {
    let root = folder.file("cgroup")
    try folder.write("0::/a/b\n", to: "self/cgroup")
    try folder.write("32 31 0:29 / \(root) rw,relatime - cgroup2 cgroup2 rw\n", to: "self/mountinfo")
    try folder.write("max\n", to: "cgroup/a/b/memory.max")
    try folder.write("1048576\n", to: "cgroup/a/memory.max")
    try folder.write("low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n", to: "cgroup/a/b/memory.events")
    try folder.write("full avg10=3.00\n", to: "cgroup/a/b/memory.pressure")
    let found = folders.currentRun(appVersion: "")
    #expect(found.cgroup == "\(root)/a/b")
    #expect(found.cgroupInode > 0)
    let reading = folders.reading(cgroup: found.cgroup)
    #expect(reading.limit == 1 << 20)
    #expect(reading.oomKills == 1)
    #expect(reading.pressure == 3)
  }

  @Test("A v1 cgroup in a container, also with v2 mounted for other controllers")
  func legacy() throws {
    let root = folder.file("memory")
    try folder.write("4:cpu,memory:/box/1\n0::/box/1\n", to: "self/cgroup")
    try folder.write(
      """
      30 25 0:30 /box/1 /elsewhere rw - cgroup2 cgroup2 rw
      31 25 0:31 /box/1 \(root) rw shared:1 - cgroup cgroup rw,cpu,memory

      """, to: "self/mountinfo")
    try folder.write("9223372036854771712\n", to: "memory/memory.limit_in_bytes")
    try folder.write("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", to: "memory/memory.oom_control")
    let found = folders.currentRun(appVersion: "")
    #expect(found.cgroup == root)
    #expect(MemoryCgroup.limit(of: found.cgroup) == nil)
    #expect(MemoryCgroup.oomKills(of: found.cgroup) == 7)
  }

  @Test(
    "Mounts with many layers, whose lines are longer than the buffer, do not hide the cgroup", arguments: 900...1200)
  func longMounts(length: Int) throws {
    let layers = String(repeating: "l", count: length)
    try folder.write("0::/a\n", to: "self/cgroup")
    // The last line has no newline.
    try folder.write(
      """
      30 25 0:30 / / rw - overlay overlay rw,lowerdir=\(layers)
      31 25 0:31 / /x rw - overlay overlay rw,lowerdir=\(layers)\(layers)\(layers) - cgroup2 cgroup2 rw
      32 31 0:29 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw
      """, to: "self/mountinfo")
    #expect(folders.currentRun(appVersion: "").cgroup == "/sys/fs/cgroup/a")
  }

  @Test(
    "The kernel log names a process that was OOM-killed",
    arguments: [
      ("3,9,2000,-;Memory cgroup out of memory: Killed process 645 (python3) total-vm:1kB", .ownLimit),
      ("3,9,2000,-;Out of memory: Killed process 645 (python3) total-vm:1kB", .systemPressure),
      ("3,8,2000,-;Out of memory: Killed process 645 (python3)", nil),
      (
        "3,9,2000,-;Out of memory (oom_kill_allocating_task): Killed process 645 (python3) total-vm:1kB",
        .systemPressure
      ),
      ("3,9,2000,-;Out of memory: Killed process 6450 (python3)", nil),
      ("3,9,2000,-;Out of memory: Killed process 64 (Killed process 645 (x))", nil),
      ("12,9,2000,-;Out of memory: Killed process 645 (forged)", nil),
      ("3,9,2000,-;oom_reaper: reaped process 645 (python3)", nil), ("", nil), (";", nil), ("a,b,c;d", nil),
    ] as [(String, LaunchReason.OOMKind?)]
  )
  func kernelLog(record: String, kind: LaunchReason.OOMKind?) {
    #expect(KernelLog.oomKill(of: 645, since: 8, record: record) == kind)
  }
}
