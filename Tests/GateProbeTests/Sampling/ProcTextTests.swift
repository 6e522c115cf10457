import GateCore
import Testing

@testable import GateProbe

@Suite("Parsing /proc files")
struct ProcTextTests {
  private func withBytes<Value>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    Array(text.utf8).withUnsafeBytes(body)
  }

  @Test(
    "The resident pages are the second number of statm",
    arguments: [("1234 567 89 1 0 2 0\n", 567), ("0 0 0 0 0 0 0\n", 0), ("12", 0), ("", 0)])
  func statm(text: String, pages: Int64) {
    #expect(withBytes(text) { ProcText.pages(inStatm: $0).resident } == pages)
  }

  @Test("Numbers that no kernel writes are cut, so that their sums cannot overflow")
  func largeNumbers() {
    let number = String(repeating: "9", count: 30)
    #expect(withBytes("1 \(number)", ProcText.pages(inStatm:)).resident == ProcText.largest)
    let stat = "1 (x) S" + String(repeating: " \(number)", count: 20)
    #expect(withBytes(stat, ProcText.activity(inStat:))?.minorFaults == ProcText.largest)
    let status = withBytes("VmRSS: \(number) kB\n", ProcText.memory(inStatus:))
    #expect(status?.resident == .kibibytes(ProcText.largest))
    var sums = MappingSums()
    withBytes("a-b rw-p 0 0 0 [heap]\n" + String(repeating: "Rss: \(number)\n", count: 20_000)) { sums.take($0) }
    #expect(sums.heap == ProcText.largest)
  }

  @Test("The memory lines of status are parsed")
  func status() {
    let text = """
      Name:\tVmRSS:\t1 kB
      State:\tS (sleeping)
      VmPeak:\t    9000 kB
      VmHWM:\t    3000 kB
      VmRSS:\t    2500 kB
      RssAnon:\t     500 kB
      RssFile:\t    1900 kB
      RssShmem:\t     100 kB
      VmData:\t       1 kB

      """
    let expected = MemoryReading(
      resident: .kibibytes(2500), peak: .kibibytes(3000), anonymous: .kibibytes(500), file: .kibibytes(1900),
      shared: .kibibytes(100))
    #expect(withBytes(text, ProcText.memory(inStatus:)) == expected)
  }

  @Test("A zombie has no values", arguments: ["", "Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n", "VmHWM:\t1 kB\n"])
  func zombie(text: String) {
    #expect(withBytes(text, ProcText.memory(inStatus:)) == nil)
  }

  private static let mappings = """
    555555554000-555555575000 rw-p 00000000 00:00 0                          [heap]
    Size:                132 kB
    Rss:                 120 kB
    Pss:                 120 kB
    7ffff7d00000-7ffff7f00000 r-xp 00026000 08:01 1234                       /lib/x86_64-linux-gnu/libc.so.6
    Rss:                1000 kB
    7ffff7d00000-7ffff7f00000 r-xp 00026000 08:01 1234                       /tmp/a file called [heap]
    Rss:                  77 kB
    7ffff7ff0000-7ffff7ff4000 r--p 00000000 00:00 0                          [vvar]
    Rss:                   4 kB
    7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]
    Size:                132 kB
    Rss:                  40 kB
    VmFlags: rd wr mr

    """

  @Test("Heap and stack are summed for any size of the pieces", arguments: [1, 2, 7, 64, 4096])
  func mappings(piece: Int) {
    var sums = MappingSums()
    let text = Array(Self.mappings.utf8)
    for start in stride(from: 0, to: text.count, by: piece) {
      Array(text[start..<min(text.count, start + piece)]).withUnsafeBytes { sums.take($0) }
    }
    #expect(sums.heap == 120)
    #expect(sums.stack == 40)
    #expect(sums.count == 5)
    #expect(sums.codeFiles == ["/lib/x86_64-linux-gnu/libc.so.6", "/tmp/a file called [heap]"])
  }

  @Test("Shared memory has its path, and the mark of an unlinked file only where a folder had it")
  func sharedNames() {
    let names = [
      "/memfd:pool (deleted)": "/memfd:pool", "/SYSV0000002a (deleted)": "/SYSV0000002a",
      "/dev/shm/pool (deleted)": "/dev/shm/pool (deleted)", "/dev/shm/pool": "/dev/shm/pool",
    ]
    for (path, name) in names {
      var sums = MappingSums()
      withBytes("7f00-7f01 rw-s 00000000 00:01 77      \(path)\nRss:   8 kB\n") { sums.take($0) }
      #expect(sums.libraries.map(\.name) == [name])
      #expect(MappingSums.nameOfShared(path) == name, "of a file that is not mapped")
    }
    #expect(MappingSums.nameOfShared("/run/user/pool (deleted)") == "/run/user/pool (deleted)")
  }
}
