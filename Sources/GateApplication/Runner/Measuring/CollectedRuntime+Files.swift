import Foundation
import GateCore

extension CollectedRuntime {
  /// The runtime of a process that has mapped the code of these files.
  init?(codeFiles: [String]) {
    self.init(codeFiles: codeFiles, isGo: Self.isGoProgram)
  }

  /// Whether the Go linker wrote this file: it aligns the build information to 16 bytes (debug/buildinfo of Go 1.19).
  private static func isGoProgram(_ path: String) -> Bool {
    guard let file = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped) else { return false }
    return file.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 16).contains {
        bytes[$0] == goBuildInformation[0] && bytes[$0...].starts(with: goBuildInformation)
      }
    }
  }
}
