import GateCore
import LinuxSystem

extension SystemFailure {
  /// Names the call that failed, and what it was about.
  @discardableResult
  static func of<Value>(
    _ call: Call,
    path: String? = nil,
    _ body: () throws(ErrorNumber) -> Value
  ) throws(SystemFailure) -> Value {
    do throws(ErrorNumber) { return try body() } catch { throw SystemFailure(call, path: path, code: error.code) }
  }
}
