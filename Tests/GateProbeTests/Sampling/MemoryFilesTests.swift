import Foundation
import GateCore
import Testing

@testable import GateProbe

@Suite("Files in memory that a tree has written")
struct MemoryFilesTests {
  private func file(_ name: String, _ mebibytes: Int64) -> Composition.Library {
    Composition.Library(name: name, resident: .mebibytes(mebibytes))
  }

  @Test("No more is listed in all than the cgroup counts, the first files first; without a cgroup all are")
  func part() {
    func listed(_ amount: Int64?) -> [Composition.Library] {
      var files = UnmappedFiles()
      files.note([file("own", 22), file("neighbour", 40), file("other", 1)], holding: amount, at: 0, took: 0)
      return files.largest
    }
    #expect(listed(22 << 20) == [file("own", 22)])
    #expect(listed(24 << 20) == [file("own", 22), file("neighbour", 2)])
    #expect(listed(nil) == [file("own", 22), file("neighbour", 40), file("other", 1)])
  }

  @Test("An open file comes before a larger one that anybody may have written")
  func openFirst() throws {
    let names = ["a", "b"].map { "/dev/shm/highwater-\(UUID().uuidString)-\($0)" }
    defer { for name in names { unlink(name) } }
    try Data(count: 1 << 20).write(to: URL(fileURLWithPath: names[0]))
    try Data(count: 2 << 20).write(to: URL(fileURLWithPath: names[1]))
    let kept = try FileHandle(forReadingFrom: URL(fileURLWithPath: names[0]))
    defer { withExtendedLifetime(kept) {} }
    // Other tests may have large files there.
    let listed = MemoryFiles(processes: ["/proc/self"], start: 0, most: 2 << 20).largest().map(\.name)
    let (own, other) = (try #require(listed.firstIndex(of: names[0])), listed.firstIndex(of: names[1]))
    #expect(other.map { own < $0 } ?? true)
  }
}
