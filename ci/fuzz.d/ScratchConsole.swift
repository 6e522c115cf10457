import FoundationEssentials
import GateApplication
import Glibc

/// A command's context whose output goes to files.
struct ScratchConsole: ~Copyable {
  let invocation: Invocation
  private let output: CInt
  private let errors: CInt

  init() {
    (output, errors) = (Self.file("stdout"), Self.file("stderr"))
    let console = Console(volume: .verbose, colour: .never, variables: [:], output: output, errors: errors)
    invocation = Invocation(workingDirectory: Scratch.folder, variables: [:], console: console)
  }

  deinit {
    close(output)
    close(errors)
  }

  private static func file(_ name: String) -> CInt {
    Glibc.open(Scratch.path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  }

  var outputText: String { String(decoding: Scratch.bytes(of: "stdout"), as: UTF8.self) }

  /// Checks all that was printed.
  func expectHarmless() throws {
    try PrintedText.expectHarmless(outputText)
    try PrintedText.expectHarmless(String(decoding: Scratch.bytes(of: "stderr"), as: UTF8.self))
  }
}
