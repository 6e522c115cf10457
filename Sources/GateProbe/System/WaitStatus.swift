/// How a process ended, from wait(2).
enum WaitStatus: Sendable, Hashable {
  case exited(Int32)
  case signaled(Int32, coreDumped: Bool)

  /// Reads the number that `waitpid` stores, for a process that has ended.
  init(raw: Int32) {
    let signal = raw & 0x7f
    self = signal == 0 ? .exited((raw >> 8) & 0xff) : .signaled(signal, coreDumped: raw & 0x80 != 0)
  }
}
