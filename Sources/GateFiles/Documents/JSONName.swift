/// A key of a JSON object, by its text.
struct JSONName: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ text: String) {
    stringValue = text
  }

  init(stringLiteral text: String) {
    stringValue = text
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  /// Our objects have no keys that are numbers.
  init?(intValue: Int) {
    nil
  }
}

/// What is wrong with a document, and where in it.
struct DocumentFault: Error {
  var code = FileError.Code.malformed
  /// From the outermost object inwards.
  var path: [any CodingKey] = []
  /// The rest of a sentence that begins with the place, or a whole one where `path` is empty.
  var problem: String
  var hint: String?

  /// The place as `scenarios[3].metrics.peak_rss`; empty for the document itself.
  var place: String {
    path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += (text.isEmpty ? "" : ".") + Self.shown(key.stringValue)
      }
    }
  }

  /// A text of the file as a message may show it: short, and without characters that steer a terminal.
  static func shown(_ text: String) -> String {
    let visible = text.unicodeScalars.prefix(80).map { $0.isControl ? "\u{FFFD}" : $0 }
    return String(String.UnicodeScalarView(visible)) + (text.unicodeScalars.count > 80 ? "…" : "")
  }
}

extension Unicode.Scalar {
  /// Whether the character could break a line or steer a terminal.
  var isControl: Bool {
    if isASCII { return value < 0x20 || value == 0x7f }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}
