import GateCore
import Glibc

/// The C library's texts of error numbers.
enum ErrorNumber {
  /// In lower case as our messages are: `Is a directory` becomes `is a directory`, and `I/O error` stays.
  static func text(of code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    let words = String(cString: text)
    guard let second = words.dropFirst().first, second.isLowercase else { return words }
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

extension SystemFailure {
  /// As in ``cannot open `x`: no such file or directory``.
  package var displayText: String {
    let path = path.map { "`\($0)`" } ?? "a file"
    let task =
      switch call {
      case .open: "open \(path)"
      case .pipe: "create a pipe"
      case .mkdtemp: "create a temporary folder in \(path)"
      case .mkfifo: "create a FIFO in \(path)"
      case .write: "write to \(path)"
      case .thread: "start a thread"
      case .fork: "create a process"
      }
    return "cannot \(task): \(ErrorNumber.text(of: code))"
  }
}
