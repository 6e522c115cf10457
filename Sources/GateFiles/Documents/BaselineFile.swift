package import GateCore

/// Baseline files (`highwater.baseline/1`, file-formats.md, The baseline).
package enum BaselineFile {
  /// The largest baseline that is read, in bytes: a thousand repetitions of ten metrics take a fifth of it.
  package static let largest = 1 << 20

  /// Small libraries come and go by a page, and each would be a line of the diff.
  private static let mostLibraries = 10

  /// Whether a file is intended as a baseline, judging by its size and schema; ``decode(_:path:)`` validates it.
  package static func claims(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= largest else { return false }
    let claim = try? JSON.decode(SchemaClaim.self, from: bytes, path: "", hint: "")
    return claim?.schema.hasPrefix("\(Schema.baseline.name)/") ?? false
  }

  /// The baseline as JSON; equal values give equal bytes, except for the approval.
  package static func encode(_ baseline: Baseline) -> [UInt8] {
    var baseline = baseline
    baseline.composition = baseline.composition?.keepingLibraries(mostLibraries)
    return JSON.encode(WithSchema(schema: .baseline, content: baseline), .pretty)
  }

  /// Decodes a baseline; the path is for messages.
  package static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> Baseline {
    let hint = "restore the file from version control, or recreate it with `highwater approve`"
    return try JSON.decode(DecodedBaseline.self, from: bytes, path: path, hint: hint).baseline
  }
}

private struct SchemaClaim: Decodable {
  let schema: String
}

private struct DecodedBaseline: Decodable {
  let baseline: Baseline

  private enum Key: CodingKey {
    case metrics, composition, approved
  }

  init(from decoder: any Decoder) throws {
    try Schema.baseline.check(decoder)
    var baseline = try Baseline(from: decoder)
    let fields = try decoder.container(keyedBy: Key.self)
    // Without a memory reading, the composition is an empty object.
    baseline.composition = try fields.decodeComposition(forKey: .composition)
    baseline.units = baseline.units.filter { baseline.metrics[$0.key] != nil }
    if baseline.metrics.isEmpty { throw fields.corrupted(.metrics, "has no values") }
    if baseline.approval == nil {
      throw DecodingError.keyNotFound(Key.approved, .init(codingPath: [], debugDescription: "is missing"))
    }
    try DocumentCheck(decoder).at("environment").check(name: baseline.environment)
    self.baseline = baseline
  }
}
