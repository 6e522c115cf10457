import GateCore
import Testing

@testable import GateProbe

@Suite("OOM kills in the kernel log")
struct KernelLogTests {
  private func kills(_ records: String...) -> [KernelKill] {
    var reader = KillReader()
    for record in records { reader.take(record) }
    return reader.kills
  }

  private func victim(_ constraint: String, cgroup: String, name: String = "python3", pid: Int) -> String {
    "6,21,11,-;oom-kill:constraint=\(constraint),nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/jobs,"
      + "task_memcg=\(cgroup),task=\(name),pid=\(pid),uid=0\n SUBSYSTEM=x\n"
  }

  private let sizes = "total-vm:221628kB, anon-rss:72576kB, file-rss:6644kB, shmem-rss:0kB, UID:0"

  @Test("A kill at the limit of a cgroup has the cgroup's path from the preceding line")
  func ofCgroup() {
    let line = "Memory cgroup out of memory: Killed process 645 (python3) \(sizes)"
    let found = kills(victim("CONSTRAINT_MEMCG", cgroup: "/jobs/a", pid: 645), "3,22,12,-;\(line)\n")
    #expect(found == [KernelKill(pid: 645, isOfCgroup: true, cgroup: "/jobs/a", line: line)])
  }

  @Test("A global OOM kill is distinguished, even of a process in a cgroup")
  func ofMachine() {
    let line = "Out of memory: Killed process 7 (a b) \(sizes)"
    let found = kills(victim("CONSTRAINT_NONE", cgroup: "/", pid: 7), "3,22,12,-,caller=T1;\(line)\n")
    #expect(found == [KernelKill(pid: 7, isOfCgroup: false, cgroup: "/", line: line)])
  }

  @Test(
    "Without the preceding line, the text of the kill decides",
    arguments: [
      ("Out of memory: Killed process 7 (x)", false), ("Memory cgroup out of memory: Killed process 7 (x)", true),
      ("Out of memory (oom_kill_allocating_task): Killed process 7 (x)", false), ("Killed process 7 (x)", false),
    ]
  )
  func withoutVictim(line: String, isOfCgroup: Bool) {
    #expect(kills("3,1,1,-;\(line)") == [KernelKill(pid: 7, isOfCgroup: isOfCgroup, cgroup: nil, line: line)])
  }

  @Test("A victim line applies only to the process that it names, and is not a kill itself")
  func victims() {
    let line = "Memory cgroup out of memory: Killed process 8 (x)"
    let found = kills(victim("CONSTRAINT_MEMCG", cgroup: "/jobs/a", pid: 7), "3,1,1,-;\(line)")
    #expect(found.map(\.cgroup) == [nil])
  }

  @Test("A program cannot forge the pid by its name")
  func forgedName() {
    let name = "x,pid=1,task=y"
    let found = kills(
      victim("CONSTRAINT_MEMCG", cgroup: "/jobs/a", name: name, pid: 9), "3,1,1,-;Out of memory: Killed process 9 (x)")
    #expect(found.map(\.pid) == [9] && found.map(\.isOfCgroup) == [true])
  }

  @Test("A program cannot hide its kill by its name")
  func hidingName() {
    let line = "Out of memory: Killed process 9 (Killed process ) \(sizes)"
    #expect(kills("3,1,1,-;\(line)").map(\.pid) == [9])
  }

  @Test(
    "Records that are not the kernel's report of a kill are ignored",
    arguments: [
      "12,1,1,-;Out of memory: Killed process 7 (x)", "3,1,1,-;note: Out of memory: Killed process 7 (x)",
      "3,1,1,-;Out of memory: Killed process x", "Out of memory: Killed process 7", "", ";", "3,1,1,-;",
      "3,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG", "3,1,1,-;Out of memory and no killable processes...",
    ]
  )
  func ignored(record: String) {
    #expect(kills(record) == [])
  }

  @Test("An unreadable log is nil")
  func unreadable() {
    #expect(KernelLog(path: "/proc/none") == nil)
  }
}
