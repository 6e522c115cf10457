/// Comparison of commit IDs.
package enum CommitID {
  /// Fewer digits may be ambiguous (git's default for `core.abbrev`).
  private static let fewestDigits = 7

  /// Whether both name the same commit; one may be abbreviated.
  package static func areSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.lowercased(), right.lowercased())
    let (short, long) = left.count < right.count ? (left, right) : (right, left)
    return left == right || (short.count >= fewestDigits && long.hasPrefix(short) && long.allSatisfy(\.isHexDigit))
  }
}
