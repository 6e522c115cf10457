/// Comparison of commit IDs.
package enum CommitID {
  /// Fewer digits may be ambiguous (git's default for `core.abbrev`).
  private static let fewestDigits = 7

  /// Whether a text can be the ID of a commit as git writes it, and not a branch, an option or several lines: 7 to 64
  /// hexadecimal digits in lower case (SHA-1 has 40 and SHA-256 64).
  package static func isHash(_ text: String) -> Bool {
    (fewestDigits...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
  }

  /// Whether both name the same commit; one may be abbreviated.
  package static func areSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.lowercased(), right.lowercased())
    let (short, long) = left.count < right.count ? (left, right) : (right, left)
    return left == right || (short.count >= fewestDigits && long.hasPrefix(short) && long.allSatisfy(\.isHexDigit))
  }
}
