import Glibc

/// A call to the kernel that failed.
struct SystemError: Error, Equatable {
  /// What was to be done, as in `create a pipe`.
  let task: String
  /// The kernel's `errno`.
  let code: Int32

  var problem: String {
    "cannot \(task): \(LinuxCalls.words(forError: code))"
  }

  /// Turns the −1 of a call into an error.
  static func check(_ result: Int32, _ task: @autoclosure () -> String) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(task: task(), code: errno) }
    return result
  }
}
