import Glibc
import Testing

@testable import GateProbe

@Suite("Parsing /proc/<pid>/stat")
struct ProcessStatTests {
  @Test(
    "A name may contain spaces and parentheses",
    arguments: ["sleep", "a b", "x) R 1 (y", "))) S 1", "(", ""]
  )
  func names(name: String) throws {
    let text = "42 (\(name)) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 9999 1 2\n"
    let stat = try #require(ProcessStat(parsing: Array(text.utf8)))
    #expect(stat.command == name)
    #expect(stat.pid == 42 && stat.parent == 7 && stat.session == 40)
    #expect(stat.threads == 3 && stat.startTick == 9999)
    #expect(stat.isAlive)
  }

  @Test("Truncated text is rejected", arguments: ["", "42", "42 (a", "42 (a) S 7 42 40", ") 42 ("])
  func cutOff(text: String) {
    #expect(ProcessStat(parsing: Array(text.utf8)) == nil)
  }

  @Test("Both parsers find the parent of this process")
  func ownParent() {
    #expect(ProcessStat(of: getpid())?.parent == getppid())
    #expect(LinuxCalls.parent(of: getpid()) == getppid())
    #expect(LinuxCalls.parent(of: 0x3fff_ffff) == nil)
  }

  @Test("The walk through the children files and the scan of all processes find the same tree")
  func walks() throws {
    let testProcesses = TestProcesses()
    let processTree = try testProcesses.shell("for n in 1 2 3; do sh -c 'sleep 1000 & sleep 1000 & wait' & done; wait")
    #expect(eventually { processTree.members().count == 10 })
    let walked = Set(LinuxCalls.descendants(of: processTree.supervisor).map(\.pid))
    let scanned = Set(LinuxCalls.descendantsByScan(of: processTree.supervisor).map(\.pid))
    #expect(walked.count == 10)
    #expect(walked == scanned)
  }
}
