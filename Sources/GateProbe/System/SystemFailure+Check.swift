import GateCore
import LinuxSystem

extension SystemFailure {
  /// Turns the −1 of a call into an error.
  static func check(_ result: Int32, _ call: Call, path: String? = nil) throws(SystemFailure) -> Int32 {
    guard result >= 0 else { throw SystemFailure(call, path: path, code: ErrorNumber.last.code) }
    return result
  }
}
