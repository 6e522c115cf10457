#if LaunchReason

import Glibc

/// What the library has to say to people, which is little.
enum Complaint {
  /// Writes a line to the standard error.
  static func say(_ words: String) {
    let line = Array("highwater: \(words)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// An error of a store in words.
  static func words(for error: any Error) -> String {
    switch error as? RunStoreError {
    case .heldByAnotherProcess: "another process holds the record"
    case .corrupt: "the record is damaged"
    case .unknownVersion(let version): "the record has the unknown version \(version)"
    case .noFolder: "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set"
    case .system(let call, let path, let code): "\(call) \(path): \(String(cString: strerror(code)))"
    case nil: "\(error)"
    }
  }
}

#endif
