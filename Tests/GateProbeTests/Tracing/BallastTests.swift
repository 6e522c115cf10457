import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite(
  "Memory injected into programs", .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)"), .timeLimit(.minutes(60)))
struct BallastTests {
  private let testProcesses = TestProcesses()

  /// Runs a program with a ballast until its tree is empty.
  ///
  /// - Returns: how it ended, the last memory of each process by name, and the events that say that it lacks the ballast.
  private func run(
    _ words: [String],
    _ ballast: Bytes
  ) throws -> (ending: WaitStatus?, memory: [(command: String, reading: MemoryReading)], lacking: [TraceEvent.Kind]) {
    var request = testProcesses.request(words)
    (request.isTraced, request.ballast) = (true, ballast)
    let processTree = try ProcessTree(starting: request)
    let ending = processTree.leaderEnding()
    try #require(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
    let kinds = processTree.takeTraceEvents().map(\.kind)
    let memory = kinds.compactMap { kind -> (String, MemoryReading)? in
      guard case .exiting(let program, _) = kind, let reading = program.memory else { return nil }
      return (program.command, reading)
    }
    return (ending, memory, kinds.filter { if case .lacksBallast = $0 { true } else { false } })
  }

  /// How much more anonymous memory the processes have at their end with the ballast than without.
  private func rises(of words: [String], _ ballast: Bytes) throws -> [Int64] {
    let (before, after) = (try run(words, .zero), try run(words, ballast))
    try #require(after.lacking == [] && after.ending == .exited(0) && before.memory.count == after.memory.count)
    return zip(before.memory, after.memory).map { $1.reading.anonymous.count - $0.reading.anonymous.count }
  }

  @Test("Every executed program holds the memory besides its own, and a forked copy shares it")
  func held() throws {
    let ballast = Bytes.mebibytes(6)
    let copies = ["/usr/bin/python3", "-c", "import os; os.fork() or os._exit(0); os.wait()"]
    for words in [["/bin/true"], ["/bin/sh", "-c", "/bin/true; /bin/true; exit"], copies] {
      // 0.25 MiB: each of the kernel's counters may be off by 31 pages per CPU, see `Recording`.
      #expect(try rises(of: words, ballast).allSatisfy { abs($0 - ballast.count) <= 256 << 10 }, "\(words)")
    }
  }

  @Test("The program sees its arguments, registers and signals as without it")
  func unchanged() throws {
    let program = try testProcesses.compiled(
      """
      #include <signal.h>
      #include <stdio.h>
      int main(int count, char **words) {
        sigset_t blocked;
        sigprocmask(SIG_SETMASK, NULL, &blocked);
        for (int number = 1; number < 64; number++) if (sigismember(&blocked, number) == 1) return 9;
        printf("%d %s\\n", count, words[1]);
        return 0;
      }
      """, flags: ["-static"])
    #expect(try run([program, "word"], .mebibytes(1)).ending == .exited(0))
    #expect(testProcesses.output == "2 word\n")
  }

  @Test("More than there is room for is reported, and the program runs without it")
  func tooMuch() throws {
    let outcome = try run(["/bin/true"], Bytes(1 << 50))
    #expect(outcome.ending == .exited(0))
    guard case .lacksBallast(let program, ENOMEM)? = outcome.lacking.first, outcome.lacking.count == 1 else {
      Issue.record("\(outcome.lacking)")
      return
    }
    #expect(program.command == "true")
  }

  #if arch(x86_64)
  /// A 32-bit program that exits with code 42 (elf(5)).
  private static let program32: [UInt8] = {
    let code: [UInt8] = [0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80]
    func words(_ values: [UInt32]) -> [UInt8] {
      values.flatMap { value in (0..<4).map { UInt8(value >> ($0 * 8) & 255) } }
    }
    let base: UInt32 = 0x0804_8000
    let size = UInt32(84 + code.count)
    return [0x7f, 0x45, 0x4c, 0x46, 1, 1, 1] + [UInt8](repeating: 0, count: 9) + [2, 0, 3, 0]
      + words([1, base + 84, 52, 0, 0]) + [52, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0]
      + words([1, 0, base, base, size, size, 5, 0x1000]) + code
  }()

  @Test("A 32-bit program runs without it, which is reported", .enabled(if: runs32, "requires 32-bit programs"))
  func otherArchitecture() throws {
    let outcome = try run([try Self.write32(to: testProcesses.folder)], .mebibytes(1))
    #expect(outcome.ending == .exited(42))
    guard case .lacksBallast(_, ENOEXEC)? = outcome.lacking.first else {
      Issue.record("\(outcome.lacking)")
      return
    }
  }

  private static func write32(to folder: String) throws -> String {
    let path = "\(folder)/program32"
    try Data(program32).write(to: URL(filePath: path))
    chmod(path, 0o755)
    return path
  }

  /// Whether the kernel executes 32-bit programs.
  private static let runs32: Bool = {
    let processes = TestProcesses()
    let processTree = try? ProcessTree(starting: processes.request([write32(to: processes.folder)]))
    return processTree?.leaderEnding() == .exited(42)
  }()
  #endif
}
