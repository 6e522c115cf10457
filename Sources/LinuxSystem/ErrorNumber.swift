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

/// Repeats a system call that a signal interrupted.
///
/// - Throws: `errno` where the call returns less than zero.
@discardableResult
package func retrying<Value: SignedInteger>(_ call: () -> Value) throws(ErrorNumber) -> Value {
  while true {
    let value = call()
    if value >= 0 { return value }
    guard errno == EINTR else { throw .last }
  }
}
