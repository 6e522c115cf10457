/// How a process ended, from wait(2).
enum WaitStatus: Sendable, Hashable {
  case exited(Int32)
  case signaled(Int32, coreDumped: Bool)

  /// Decodes the status that `waitpid` stores for an ended process.
  init(raw: Int32) {
    let signal = raw & 0x7f
    self = signal == 0 ? .exited((raw >> 8) & 0xff) : .signaled(signal, coreDumped: raw & 0x80 != 0)
  }
}
