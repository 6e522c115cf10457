import GateCore

/// What reports show of an approved run besides its values (`highwater.baseline-details/1`, file-formats.md, The details of
/// an approval).
///
/// It is separate from what people review, since it differs in every run.
struct BaselineDetails: Codable {
  /// The ID of the run.
  let run: String
  /// The memory curve of the median repetition.
  let curve: MemorySeries?
  /// Of the run of a change: that of a baseline is in its own file.
  let composition: Composition?

  /// nil if there is nothing to show.
  init?(run: String?, curve: MemorySeries?, composition: Composition? = nil) {
    guard let run, curve != nil || composition != nil else { return nil }
    (self.run, self.curve, self.composition) = (run, curve, composition)
  }
}

enum BaselineDetailsFile {
  /// A curve has at most 60 points of about 30 bytes, and a composition ten libraries.
  private static let largest = 64 << 10

  static func encode(_ details: BaselineDetails) -> [UInt8] {
    JSON.encode(WithSchema(schema: .baselineDetails, content: details), .pretty)
  }

  /// The details in a file; nil if it has none of this run that can be read, since they are only shown.
  static func read(_ path: String, ofRun run: String?) -> BaselineDetails? {
    guard let bytes = try? SafeFile.read(path, atMost: largest),
      let details = try? JSON.decode(Checked.self, from: bytes, path: path, hint: "").details
    else { return nil }
    return details.run == run ? details : nil
  }

  private struct Checked: Decodable {
    let details: BaselineDetails

    init(from decoder: any Decoder) throws {
      try Schema.baselineDetails.check(decoder)
      details = try BaselineDetails(from: decoder)
    }
  }
}
