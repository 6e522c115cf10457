import GateCore
import Testing

@testable import GateProbe

@Suite("The isolation of a program", .timeLimit(.minutes(60)))
struct IsolationTests {
  let testProcesses = TestProcesses()

  private func output(_ script: String, _ isolation: Isolation) throws -> String {
    let processTree = try ProcessTree(starting: testProcesses.request(["/bin/sh", "-c", script], isolation: isolation))
    #expect(processTree.leaderEnding() == .exited(0))
    return testProcesses.output
  }

  @Test("ASLR is off by default", .enabled(if: LinuxCalls.canFixAddresses))
  func fixedAddresses() throws {
    #expect(try output("cat /proc/$$/personality", Isolation()) == "00040000\n")
  }

  @Test("ASLR is on if requested")
  func randomAddresses() throws {
    var isolation = Isolation()
    isolation.randomAddresses = true
    #expect(try output("cat /proc/$$/personality", isolation) == "00000000\n")
  }

  @Test("The program runs on the requested CPUs")
  func cpus() throws {
    let last = try #require(LinuxCalls.usableCPUs().last)
    var isolation = Isolation()
    isolation.cpus = [last]
    #expect(try output("grep Cpus_allowed_list /proc/$$/status", isolation) == "Cpus_allowed_list:\t\(last)\n")
  }

  @Test("The program and those that it starts see the requested number of CPUs, whatever they ask", arguments: [2, 64])
  func cpuCount(count: Int) throws {
    var isolation = Isolation()
    isolation.cpuCount = count
    let script = """
      nproc
      cat /sys/devices/system/cpu/online
      grep -c ^processor /proc/cpuinfo
      grep -c '^cpu[0-9]' /proc/stat
      grep Cpus_allowed_list /proc/self/status
      getconf _NPROCESSORS_CONF
      """
    let list = "0-\(count - 1)"
    let expected = "\(count)\n\(list)\n\(count)\n\(count)\nCpus_allowed_list:\t\(list)\n\(count)\n"
    #expect(try output(script, isolation) == expected)
  }

  @Test("A program may pin itself to any CPU that it sees, and sees one when pinned to a real one")
  func pinning() throws {
    var isolation = Isolation()
    isolation.cpuCount = 1000
    let real = try #require(LinuxCalls.usableCPUs().first)
    let script = """
      for cpu in 999 1001; do taskset -c $cpu true 2> /dev/null && echo yes || echo no; done
      taskset -c \(real) nproc
      taskset -c 996-1003 nproc
      taskset -c 0-3,9 sh -c 'nproc; (nproc; taskset -c 7 nproc); nproc'
      nproc
      """
    #expect(try output(script, isolation) == "yes\nno\n1\n4\n5\n5\n1\n5\n1000\n")
  }

  @Test("Huge pages are disabled or inherited", arguments: [Isolation.HugePages.off, .inherit])
  func hugePages(mode: Isolation.HugePages) throws {
    var isolation = Isolation()
    isolation.hugePages = mode
    let enabled = try output("grep THP_enabled /proc/$$/status", isolation)
    #expect(enabled == "THP_enabled:\t\(mode == .off ? 0 : 1)\n")
  }
}
