import Foundation
import Testing

@Suite(
  "Functions of Python", .enabled(if: StackFixture.canReadPython, "requires Python 3.11 to 3.13"),
  .timeLimit(.minutes(60)))
struct PythonTests {
  private let fixture: StackFixture

  init() throws {
    fixture = try StackFixture()
  }

  /// The Python functions at each stop of a script, with their lines.
  private func functions(_ script: String) throws -> [[String]] {
    let path = fixture.path("script.py")
    try Data("import signal, threading\ndef stop(): signal.raise_signal(signal.SIGTRAP)\n\(script)".utf8)
      .write(to: URL(fileURLWithPath: path))
    let lines = try fixture.stacks(of: ["python3", path]).map(\.frames)
    return lines.map { frames in
      frames.filter { $0.contains("script.py:") }.map { $0.replacingOccurrences(of: "\(path):", with: "") }
    }
  }

  @Test("Functions that call each other directly and through C, methods and generators, with their lines")
  func calls() throws {
    let functions = try functions(
      """
      def middle(count):
        return (stop()
                if count == 0
                else middle(count - 1))
      class Größe:
        def run(self): list(map(middle, [1]))
      def values():
        yield Größe().run()
      for _ in values():
        pass
      """)
    #expect(
      functions == [["stop 2", "middle 4", "middle 6", "Größe.run 8", "values 10", "<module> 11"]])
  }

  @Test("Each thread has its own")
  func threads() throws {
    let functions = try functions(
      """
      def work():
        stop()
      thread = threading.Thread(target=work)
      thread.start(); thread.join()
      stop()
      """)
    #expect(functions == [["stop 2", "work 4"], ["stop 2", "<module> 7"]])
  }
}
