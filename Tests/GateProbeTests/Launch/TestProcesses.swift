import FoundationEssentials
import GateCore
import Glibc
import Synchronization

@testable import GateProbe

/// Starts processes for a test: marks them with an environment variable, and collects their output.
final class TestProcesses: Sendable {
  /// A variable in the environment of every process.
  let marker = "HIGHWATER_TEST_MARK=\(UUID().uuidString)"
  let folder: String
  private let outputFile: Int32

  init() {
    var template = Array("/tmp/highwater-test-XXXXXX".utf8CString)
    let created = template.withUnsafeMutableBufferPointer { buffer in buffer.baseAddress.flatMap { mkdtemp($0) } }
    precondition(created != nil, "cannot create a temporary folder")
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    outputFile = open("\(folder)/output", O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
  }

  deinit {
    close(outputFile)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The output so far.
  var output: String {
    SmallFile.text(at: "\(folder)/output", atMost: 1 << 20) ?? ""
  }

  var environment: [String: String] {
    let parts = marker.split(separator: "=")
    return ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", String(parts[0]): String(parts[1])]
  }

  func request(_ words: [String], isolation: Isolation = Isolation()) -> LaunchRequest {
    LaunchRequest(
      words: words, environment: environment, workingDirectory: folder, output: outputFile, isolation: isolation)
  }

  func processTree(_ words: String...) throws -> ProcessTree {
    try ProcessTree(starting: request(words))
  }

  func shell(_ script: String) throws -> ProcessTree {
    try processTree("/bin/sh", "-c", script)
  }

  func python(_ script: String) throws -> ProcessTree {
    try processTree("python3", "-c", script)
  }

  /// Writes a file to the folder; returns its path.
  func file(_ name: String, _ text: String) -> String {
    let path = "\(folder)/\(name)"
    _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
    return path
  }

  /// Writes an executable file to the folder; returns its path.
  ///
  /// Another process writes it: a child that another test has just forked would keep this one's descriptor until its exec,
  /// and the kernel executes no file that is open for writing (`ETXTBSY`).
  func executable(_ name: String, _ text: String) throws -> String {
    let (source, path) = (file("\(name).source", text), "\(folder)/\(name)")
    let copy = try processTree("/bin/sh", "-c", "cp \(source) \(path) && chmod 755 \(path)")
    guard copy.leaderEnding() == .exited(0) else { throw CompilerFailure(output: output) }
    return path
  }

  /// Compiles a C program; returns its path.
  func compiled(_ source: String, flags: [String] = ["-O0", "-pthread"]) throws -> String {
    let source = file("program-\(UUID().uuidString).c", source)
    let program = String(source.dropLast(2))
    let processTree = try processTree(
      "/bin/sh", "-c", "exec cc \(flags.joined(separator: " ")) -o \(program) \(source)")
    guard processTree.leaderEnding() == .exited(0) else { throw CompilerFailure(output: output) }
    return program
  }

  struct CompilerFailure: Error {
    let output: String
  }

  /// The living processes with the marker in their environment.
  var processes: [Int32] {
    Self.processes(with: marker)
  }

  static func processes(with marker: String) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { pid in
      guard let environment = SmallFile.bytes(at: "/proc/\(pid)/environ", atMost: 1 << 17) else { return false }
      return environment.split(separator: 0).contains { $0.elementsEqual(marker.utf8) }
    }
  }
}

/// Waits for a condition; false after a timeout that only a hang exceeds.
func eventually(within limit: Duration = .seconds(120), _ condition: () -> Bool) -> Bool {
  let deadline = MonotonicTime.now() + limit
  while MonotonicTime.now() < deadline {
    if condition() { return true }
    usleep(2000)
  }
  return condition()
}

extension ProcessTree {
  /// Waits for the leader to end.
  func leaderEnding() -> WaitStatus? {
    let deadline = MonotonicTime.now() + .seconds(600)
    while ending(of: leader) == nil, !isEmpty, MonotonicTime.now() < deadline {
      collect(waitingAtMost: .seconds(1))
    }
    return ending(of: leader)
  }
}
