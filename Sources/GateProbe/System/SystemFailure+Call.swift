import GateCore
import LinuxSystem

extension SystemFailure {
  /// Runs the body, and adds the call and path to an error.
  @discardableResult
  static func of<Value>(
    _ call: Call,
    path: String? = nil,
    _ body: () throws(ErrorNumber) -> Value
  ) throws(SystemFailure) -> Value {
    do throws(ErrorNumber) { return try body() } catch { throw SystemFailure(call, path: path, code: error.code) }
  }
}
