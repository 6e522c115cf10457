/// A pattern for names, in which `*` is any text; without one it is a whole name, or one before its `[…]`.
package enum NamePattern {
  package static func matches(_ pattern: String, _ name: String) -> Bool {
    pattern == name || name.hasPrefix("\(pattern)[")
      || (pattern.contains("*") && fits(Array(pattern.utf8), Array(name.utf8)))
  }

  /// In time proportional to the product of both lengths.
  private static func fits(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
    var reachable = Set([0])
    for byte in pattern {
      if byte == 0x2a {
        reachable = Set((reachable.min() ?? text.count + 1)..<(text.count + 1))
      } else {
        reachable = Set(reachable.filter { $0 < text.count && text[$0] == byte }.map { $0 + 1 })
      }
      guard !reachable.isEmpty else { return false }
    }
    return reachable.contains(text.count)
  }
}
