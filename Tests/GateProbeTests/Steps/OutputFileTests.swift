import GateCore
import Testing

@testable import GateProbe

@Suite("The output file")
struct OutputFileTests {
  let harness = ScenarioHarness()

  @Test("Output is cut at 16 MiB, with a line that says so")
  func cut() {
    var file = OutputFile(path: harness.path("out"))
    let piece = [UInt8](repeating: 0x79, count: 1 << 20)[...]
    for _ in 0..<20 { file.append(piece) }
    let text = harness.text("out")
    #expect(text.utf8.count == (16 << 20) + "\n… output cut here …\n".utf8.count)
    #expect(text.hasSuffix("y\n… output cut here …\n"))
    #expect(file.failure == nil)
  }

  @Test("A file that cannot be created is a failure, but does not trap")
  func unwritable() {
    var file = OutputFile(path: harness.path("no/such/folder"))
    file.append([1, 2, 3])
    #expect(file.failure == SystemFailure(.open, path: harness.path("no/such/folder"), code: 2))
  }

  @Test("A full disk is a failure, but does not trap")
  func full() {
    var file = OutputFile(path: "/dev/full")
    file.append([1, 2, 3])
    file.append([1, 2, 3])
    #expect(file.failure == SystemFailure(.write, path: "/dev/full", code: 28))
  }
}
