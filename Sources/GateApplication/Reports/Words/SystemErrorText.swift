import GateCore
import LinuxSystem

extension SystemFailure {
  /// As in ``cannot open `x`: no such file or directory``.
  var displayText: String {
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
      case .connect: "connect to \(path)"
      }
    return "cannot \(task): \(ErrorNumber(code).text)"
  }
}
