import GateCore

/// The events that the team has acknowledged (`highwater.acknowledgements/1`), one file beside the baselines.
enum AcknowledgementFile {
  /// As for a baseline: nobody acknowledges so many events.
  private static let largest = 4 << 20

  private struct Document: Codable {
    var events: [Acknowledgement]
  }

  static func path(in baselines: String) -> String { "\(baselines)/events.json" }

  static func encode(_ acknowledgements: [Acknowledgement]) -> [UInt8] {
    JSON.encode(WithSchema(schema: .acknowledgements, content: Document(events: acknowledgements)), .pretty)
  }

  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> [Acknowledgement] {
    try JSON.decode(
      Checked.self, from: bytes, path: path, hint: "restore the file from version control, or remove it"
    ).document.events
  }

  /// Reads the acknowledgements of a project; none if there is no file.
  static func load(from baselines: String) throws(FileError) -> [Acknowledgement] {
    let path = path(in: baselines)
    do throws(FileError) {
      return try decode(try SafeFile.read(path, atMost: largest), path: path)
    } catch let error where error.code == .notFound {
      return []
    }
  }

  static func save(_ acknowledgements: [Acknowledgement], to baselines: String) throws(FileError) {
    try SafeFile.write(encode(acknowledgements), to: path(in: baselines))
  }

  private struct Checked: Decodable {
    let document: Document

    init(from decoder: any Decoder) throws {
      try Schema.acknowledgements.check(decoder)
      document = try Document(from: decoder)
    }
  }
}
