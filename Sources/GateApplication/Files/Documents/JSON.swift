import FoundationEssentials
import GateCore

/// The JSON of all files of this module.
///
/// Of duplicate keys, the first counts. Integers up to 2^60 are exact if they are amounts of memory; larger numbers are
/// rejected.
enum JSON {
  enum Style {
    /// For files that people review: indented, with sorted keys and a final newline.
    case pretty
    /// One line with its newline, with sorted keys.
    case line
  }

  static func encode(_ document: some Encodable, _ style: Style) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if style == .pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(Timestamp.text(of: date))
    }
    // Non-finite numbers are left out where they can occur; this keeps any others from crashing the program.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return try withoutCommands([UInt8](encoder.encode(document))) + [0x0a]
    } catch {
      preconditionFailure("JSON has a form for every value of these documents: \(error)")
    }
  }

  /// Writes the second `#` of `##` as an escape, since `##[error]` would be a command for the CI system in whose log the
  /// file is printed.
  private static func withoutCommands(_ bytes: [UInt8]) -> [UInt8] {
    guard zip(bytes, bytes.dropFirst()).contains(where: { $0 == 0x23 && $1 == 0x23 }) else { return bytes }
    return bytes.reduce(into: []) { $0 += $1 == 0x23 && $0.last == 0x23 ? Array("\\u0023".utf8) : [$1] }
  }

  /// Decodes a document.
  ///
  /// - Parameters:
  ///   - type: The type of the document.
  ///   - bytes: The JSON text.
  ///   - path: The file, for messages.
  ///   - line: The line number of the bytes; nil for a whole file.
  ///   - hint: The hint for errors without a more specific one.
  /// - Returns: The document.
  /// - Throws: The error, with its location.
  static func decode<Document: Decodable>(
    _ type: Document.Type,
    from bytes: [UInt8],
    path: String,
    line: Int? = nil,
    hint: String
  ) throws(FileError) -> Document {
    do throws(JSONScan.Fault) {
      try JSONScan.check(bytes)
    } catch {
      let position = error.offset.map { Self.position(of: $0, in: bytes, line: line) } ?? line.map { "\($0)" }
      throw FileError(
        code: .malformed, path: path, position: position, problem: error.problem, hint: error.hint ?? hint)
    }
    let (code, problem, better): (FileError.Code, String, String?)
    do {
      return try decoder.decode(Document.self, from: Data(bytes))
    } catch let error as Schema.Mismatch {
      (code, problem, better) = (.wrongSchema, error.problem, error.hint)
    } catch let error as DecodingError {
      (code, problem, better) = (.malformed, error.problem, nil)
    } catch {
      (code, problem, better) = (.malformed, "cannot be decoded", nil)
    }
    throw FileError(
      code: code, path: path, position: line.map { "\($0)" }, problem: problem, hint: better ?? hint)
  }

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      if let date = Timestamp.date(from: text) { return date }
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "is not a time: `\(text.printable)`, expected one as in `2026-01-02T03:04:05.678Z`")
    }
    return decoder
  }

  /// As `line:column`, both from 1, the column in bytes.
  private static func position(of offset: Int, in bytes: [UInt8], line: Int?) -> String {
    let before = bytes[..<offset]
    let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    return "\(line ?? before.count { $0 == 0x0a } + 1):\(offset - start + 1)"
  }
}

extension JSON {
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  /// Whether the bytes read so far end within a string.
  struct StringState {
    private(set) var isInside = false
    private var isEscaped = false

    mutating func read(_ byte: UInt8) {
      if byte == UInt8(ascii: "\""), !isEscaped { isInside.toggle() }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
  }
}

/// Times in files: ISO 8601 in UTC with milliseconds, as in `2026-01-02T03:04:05.678Z`.
enum Timestamp {
  private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  static func text(of date: Date) -> String {
    // The style truncates fractions of a millisecond.
    style.format(Date(timeIntervalSince1970: milliseconds(of: date) / 1000 + 0.000_1))
  }

  /// Parses a time with or without a fraction, in UTC or with an offset; nil for any other text.
  static func date(from text: String) -> Date? {
    // The style alone is lenient: it accepts a day after the last of a month as one of the next month.
    guard isWellFormed(text), let date = try? style.parse(text),
      date.timeIntervalSince1970 >= 0, !text.hasSuffix("Z") || style.format(date).prefix(10) == text.prefix(10)
    else { return nil }
    return Date(timeIntervalSince1970: milliseconds(of: date) / 1000)
  }

  /// A regular expression would take 200 times as long as the parser.
  private static func isWellFormed(_ text: String) -> Bool {
    guard text.utf8.count <= 40 else { return false }
    let shape = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 })
    let zone = shape.dropFirst(19).drop { $0 == "." || $0 == "0" }
    let fraction = shape.dropFirst(19).dropLast(zone.count)
    return shape.hasPrefix("0000-00-00T00:00:00") && ["Z", "+00:00", "-00:00"].contains(zone)
      && (fraction.isEmpty || (2...10).contains(fraction.count) && fraction.lastIndex(of: ".") == fraction.startIndex)
  }

  private static func milliseconds(of date: Date) -> Double {
    (date.timeIntervalSince1970 * 1000).rounded()
  }
}

/// A schema's name and version, which are checked first.
struct Schema {
  let name: String
  let version: Int

  static let result = Schema(name: "highwater.result", version: 1)
  static let baseline = Schema(name: "highwater.baseline", version: 1)
  static let baselineDetails = Schema(name: "highwater.baseline-details", version: 1)
  static let baselineChange = Schema(name: "highwater.baseline-change", version: 1)
  static let recording = Schema(name: "highwater.recording", version: 1)
  static let noise = Schema(name: "highwater.noise", version: 1)
  static let selfCheck = Schema(name: "highwater.selfcheck", version: 1)
  static let limit = Schema(name: "highwater.limit", version: 1)
  static let doctor = Schema(name: "highwater.doctor", version: 1)
  static let run = Schema(name: "highwater.run", version: 2)
  static let acknowledgements = Schema(name: "highwater.acknowledgements", version: 1)
  static let trend = Schema(name: "highwater.trend", version: 1)
  static let profile = Schema(name: "highwater.profile", version: 1)
  static let bisect = Schema(name: "highwater.bisect", version: 1)
  static let bisectState = Schema(name: "highwater.bisect-state", version: 1)
  static let suiteBaseline = Schema(name: "highwater.suite-baseline", version: 1)

  var text: String { "\(name)/\(version)" }

  struct Mismatch: Error {
    let problem: String
    let hint: String?
  }

  enum CodingKeys: CodingKey {
    case schema
  }

  /// The schema of a document.
  static func text(in decoder: any Decoder) throws -> String {
    try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .schema)
  }

  /// Rejects a document of another kind, or of a version whose keys may have another meaning.
  func check(_ decoder: any Decoder) throws {
    let found = try Self.text(in: decoder)
    guard found != text else { return }
    let isOtherVersion = found.hasPrefix("\(name)/")
    throw Mismatch(
      problem: "has the schema `\(found.printable)`, "
        + (isOtherVersion ? "this version of \(Tool.name) reads `\(text)`" : "not `\(text)`"),
      hint: isOtherVersion ? "use the version of \(Tool.name) that wrote it, or a newer one" : nil)
  }
}

/// A document and its schema.
struct WithSchema<Content: Encodable>: Encodable {
  let schema: Schema
  let content: Content

  func encode(to encoder: any Encoder) throws {
    try content.encode(to: encoder)
    var fields = encoder.container(keyedBy: Schema.CodingKeys.self)
    try fields.encode(schema.text, forKey: .schema)
  }
}

extension Tool {
  /// The field `tool` of documents that say which version wrote them.
  static let fields = ["name": name, "version": version]
}

// MARK: - Messages

extension DecodingError {
  /// As in `` `scenarios[3].name` is missing ``.
  fileprivate var problem: String {
    switch self {
    case .keyNotFound(let key, let context): "`\(Self.place(context.codingPath + [key]))` is missing"
    case .valueNotFound(_, let context): "`\(Self.place(context.codingPath))` is null"
    case .typeMismatch(let type, let context): "`\(Self.place(context.codingPath))` is not \(Self.name(of: type))"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "is not valid JSON" : "`\(Self.place(context.codingPath))` \(context.debugDescription.printable)"
    @unknown default: "cannot be decoded"
    }
  }

  /// The position as `scenarios[3].metrics.peak_rss`.
  private static func place(_ path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += (text.isEmpty ? "" : ".") + key.stringValue.printable
      }
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any Numeric.Type: "a number"
    case is [Any].Type: "a list"
    case is [String: Any].Type: "an object"
    default: "a known value"
    }
  }
}

extension String {
  /// The text in a form for messages: short, and without characters that control a terminal.
  var printable: String {
    let visible = unicodeScalars.prefix(400).map { $0.isControl ? "\u{FFFD}" : $0 }
    return String(String.UnicodeScalarView(visible)) + (unicodeScalars.count > 400 ? "…" : "")
  }
}
