import Glibc

/// A call to the kernel that failed.
struct SystemError: Error, Equatable {
  /// What was to be done, as in `create a pipe`.
  let task: String
  /// The kernel's `errno`.
  let code: Int32

  var problem: String {
    "cannot \(task): \(Self.words(for: code))"
  }

  /// Turns the −1 of a call into an error.
  static func check(_ result: Int32, _ task: @autoclosure () -> String) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(task: task(), code: errno) }
    return result
  }

  /// The C library's words for an `errno`, in lower case, as messages have it.
  static func words(for code: Int32) -> String {
    guard let words = strerror(code) else { return "error \(code)" }
    let text = String(cString: words)
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
