import Glibc

/// The number that a system call left in `errno`.
struct SystemError: Error, Equatable {
  let number: Int32

  /// The error of the call that has just failed.
  static var last: SystemError { SystemError(number: errno) }

  /// The C library's message (strerror(3)), as it reads within a sentence.
  var message: String {
    guard let text = strerror(number) else { return "error \(number)" }
    let sentence = String(cString: text)
    // `Is a directory` becomes `is a directory`, and `I/O error` stays.
    guard let second = sentence.dropFirst().first, second.isLowercase else { return sentence }
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }
}

/// Repeats a system call that a signal interrupted.
///
/// - Throws: `errno` where the call returns less than zero.
func retrying<Value: SignedInteger>(_ call: () -> Value) throws(SystemError) -> Value {
  while true {
    let value = call()
    if value >= 0 { return value }
    guard errno == EINTR else { throw .last }
  }
}
