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

extension DocumentFault {
  /// Our words for what the decoder found.
  init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(let type, let context):
      self.init(path: context.codingPath, problem: "is not \(Self.kind(of: type))")
    case .valueNotFound(let type, let context):
      self.init(path: context.codingPath, problem: "is null and not \(Self.kind(of: type))")
    case .keyNotFound(let key, let context):
      self.init(path: context.codingPath + [key], problem: "is missing")
    case .dataCorrupted(let context):
      self.init(path: context.codingPath, problem: "cannot be read")
    @unknown default:
      self.init(problem: "cannot be read")
    }
  }

  private static func kind(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Double.Type, is Int64.Type: "a number"
    case is Bool.Type: "true or false"
    case is [String: Any].Type: "an object"
    case is [Any].Type: "a list"
    default: "what belongs there"
    }
  }
}

extension Unicode.Scalar {
  /// Whether the character could break a line or steer a terminal.
  var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
