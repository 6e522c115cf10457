import LinuxSystem

/// Words of a command line, to be copied into a shell.
enum ShellWords {
  private static let plain = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars
  )

  /// The word, quoted for a POSIX shell if necessary.
  ///
  /// A word with control or format characters takes the form `$'…'` (POSIX.1-2024, 2.2.4), which bash, zsh and ksh
  /// accept and a terminal shows safely.
  static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.unicodeScalars.allSatisfy(plain.contains) { return word }
    if TerminalText.safe(word) == word {
      return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    let bytes = word.systemBytes.map { byte in
      switch byte {
      case 0x27, 0x5c: "\\" + String(Unicode.Scalar(byte))
      case 0x20..<0x7f: String(Unicode.Scalar(byte))
      default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return "$'" + separated(bytes).joined() + "'"
  }

  /// The words as one line for a shell.
  static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// Ends a `\xXX` before a character that some shells would read as another digit.
  private static func separated(_ pieces: [String]) -> [String] {
    zip(pieces, [""] + pieces).map { piece, before in
      let isDigit = piece.count == 1 && piece.allSatisfy(\.isHexDigit)
      return isDigit && before.hasPrefix("\\x") ? "'$'" + piece : piece
    }
  }
}
