import GateCore

/// Text that the program prints, checked by other means than those that make it safe.
enum PrintedText {
  /// Checks that no character but a newline controls a terminal, and that no line is a command for a CI system.
  static func expectHarmless(_ text: String) throws {
    try expectNoControl(text)
    for line in text.unicodeScalars.split(separator: "\n") {
      let start = Array(String(line.drop { $0.properties.isWhitespace }).utf8)
      let isGroup = ["::", "---", "+++", "~~~", "^^^"].contains { start.starts(with: $0.utf8) }
      try promise(!isGroup && !hasCommand(start), "prints a command for a CI system: \(line)")
    }
  }

  /// Checks that no character but a newline controls a terminal, reorders text or is invisible; the joiner of emoji is
  /// the exception.
  static func expectNoControl(_ text: String) throws {
    for scalar in text.unicodeScalars where !(" "..."~").contains(scalar) && !["\n", "\u{200d}"].contains(scalar) {
      let category = scalar.properties.generalCategory
      try promise(
        ![.control, .format, .lineSeparator, .paragraphSeparator].contains(category),
        "prints the character U+\(String(scalar.value, radix: 16)): \(text)")
    }
  }

  /// Whether a line has `##NAME[`, `section_start:` or `section_end:`.
  private static func hasCommand(_ line: [UInt8]) -> Bool {
    for index in line.indices where [UInt8(ascii: "#"), UInt8(ascii: "s")].contains(line[index]) {
      let rest = line[index...]
      if ["section_start:", "section_end:"].contains(where: { rest.starts(with: $0.utf8) }) { return true }
      let name = rest.dropFirst(2).prefix { (0x41...0x5a).contains($0 & 0xdf) }
      if rest.starts(with: "##".utf8), rest.dropFirst(2 + name.count).first == UInt8(ascii: "[") { return true }
    }
    return false
  }

  /// Checks that each line is a sample or a comment, and has no control characters of ASCII.
  static func expectOpenMetrics(_ text: String) throws {
    for line in text.utf8.split(separator: 0x0a) {
      let isKnown = line.first == UInt8(ascii: "#") || line.starts(with: "highwater_".utf8)
      try promise(isKnown && line.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "not OpenMetrics: \(text)")
    }
  }

  /// Checks the texts of errors, which are printed line by line.
  static func expectReadable(_ diagnostics: [Diagnostic]) throws {
    try promise(!diagnostics.isEmpty, "an error has no text")
    for diagnostic in diagnostics {
      try expectNoControl(diagnostic.description)
      try promise(diagnostic.description.utf8.count < 8192, "an error is very long: \(diagnostic)")
    }
  }
}

/// The scripts of a page.
enum PageScripts {
  /// Checks that a page has no more than its own scripts: the charts', three parts, and its data.
  static func expectOwn(in page: [UInt8]) throws {
    let opened = count("<script", in: page)
    try promise(opened <= 4 && count("</script", in: page) == opened, "the page has other scripts than its own")
    try promise(count("=\"javascript:", in: page) == 0, "the page has an address that is a script")
  }

  private static func count(_ text: String, in page: [UInt8]) -> Int {
    let text = Array(text.utf8)
    return page.indices.count { page[$0] == text[0] && page[$0...].starts(with: text) }
  }
}
