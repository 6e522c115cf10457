import Glibc

/// The number of an error that a system call left in `errno` (errno(3)).
package struct ErrorNumber: Error, Sendable, Hashable {
  package let code: Int32

  package init(_ code: Int32) {
    self.code = code
  }

  /// That of the call that has just failed.
  package static var last: ErrorNumber { ErrorNumber(errno) }

  /// The C library's text in lower case, as our messages are: `Is a directory` becomes `is a directory`, and `I/O error`
  /// stays.
  package var text: String {
    guard let text = strerror(code) else { return "error \(code)" }
    let words = String(cString: text)
    guard let second = words.dropFirst().first, second.isLowercase else { return words }
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

/// How often a system call is repeated that signals interrupt.
///
/// Not without end: a debugger or a filter of system calls may let each call end so.
private let mostInterruptions = 1000

/// Repeats a system call that a signal interrupted.
///
/// - Throws: `errno` where the call returns less than zero; `EINTR` if it does so over and over.
@discardableResult
package func retrying<Value: SignedInteger>(_ call: () -> Value) throws(ErrorNumber) -> Value {
  for _ in 1..<mostInterruptions {
    let value = call()
    if value >= 0 { return value }
    guard errno == EINTR else { throw .last }
  }
  throw .last
}

/// The same where a negative value tells of the error in `errno`.
package func retried<Value: SignedInteger>(_ call: () -> Value) -> Value {
  var value = call()
  var turns = 1
  while value < 0, errno == EINTR, turns < mostInterruptions {
    value = call()
    turns += 1
  }
  return value
}
