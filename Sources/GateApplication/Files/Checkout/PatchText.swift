import GateCore

/// Patches as git writes them, with all lines of the files.
enum PatchText {
  static func lines(of bytes: [UInt8]) -> [String] {
    var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The lines of the first file in a patch that has some; nil if none has.
  static func lines(ofPatch bytes: [UInt8]) -> [ChangedFile.Line]? {
    var (found, isInHunk): ([ChangedFile.Line], Bool) = ([], false)
    for line in lines(of: bytes) {
      guard isInHunk, let mark = line.utf8.first else {
        if line.hasPrefix("@@ ") { isInHunk = true }
        // `diff.suppressBlankEmpty` leaves the mark of an empty line out.
        if isInHunk, line.isEmpty { found.append(.same("")) }
        continue
      }
      let text = String(line.unicodeScalars.dropFirst())
      switch mark {
      case UInt8(ascii: " "): found.append(.same(text))
      case UInt8(ascii: "-"): found.append(.removed(text))
      case UInt8(ascii: "+"): found.append(.added(text))
      case UInt8(ascii: "\\"), UInt8(ascii: "@"): break
      default: return found
      }
    }
    return found.isEmpty ? nil : found
  }
}
