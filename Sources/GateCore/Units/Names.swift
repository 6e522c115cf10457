/// A location in a file that a person edits; lines and columns count from 1.
package struct SourcePlace: Sendable, Hashable, Codable, CustomStringConvertible {
  package let file: String
  package let line: Int
  package let column: Int

  package init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }

  package var description: String {
    "\(file):\(line):\(column)"
  }
}

/// The name of a scenario, phase, mark or environment in the project file.
///
/// Such names are safe in paths, terminals and HTML pages.
package enum PlainName {
  /// What a name matches, as a regular expression.
  package static let pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"

  package static let rule = "a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -"

  package static func isValid(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    guard let first = bytes.first, bytes.count <= 100, isAlphanumeric(first) else { return false }
    return bytes.allSatisfy { isAlphanumeric($0) || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }
}

/// The name of a scenario: a plain name, with its values for a member of a matrix, as in `load[clients=1]`.
package struct ScenarioName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  /// Takes the text unchecked; the readers of files check it.
  package init(_ text: String) {
    self.text = text
  }

  package var description: String { text }

  package static func < (lhs: ScenarioName, rhs: ScenarioName) -> Bool {
    lhs.text < rhs.text
  }

  /// The name as a path component: never empty, `.` or `..`, at most 160 bytes, and unique.
  ///
  /// Bytes other than letters, digits and `. _ - = , [ ]` become `%XX`; a long name ends in its hash.
  package var pathComponent: String {
    FileName.component(for: text)
  }
}

/// File names made from arbitrary text.
package enum FileName {
  package static func component(for text: String) -> String {
    let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-=,[]".utf8)
    var result = ""
    for (index, byte) in text.utf8.enumerated() {
      if kept.contains(byte), !(index == 0 && byte == 0x2e) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    guard result.isEmpty || result.utf8.count > 160 else { return result }
    return result.prefix(140) + "~" + StableHash.hexadecimal(of: text)
  }
}

/// A text that must not be printed: a secret, or a URL that may contain credentials.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The text itself, for use in requests only.
  package let exposed: String

  package init(_ exposed: String) {
    self.exposed = exposed
  }

  package var description: String { "(hidden)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
