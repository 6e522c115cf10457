import GateCore

/// Baseline files (`highwater.baseline/1`, file-formats.md, The baseline).
enum BaselineFile {
  /// The largest baseline that is read, in bytes: a thousand repetitions of ten metrics take a fifth of it.
  static let largest = 1 << 20

  /// Small libraries come and go by a page, and each would be a line of the diff.
  private static let mostLibraries = Composition.storedLibraries

  /// Whether a file is intended as a baseline, judging by its size and schema; ``decode(_:path:)`` validates it.
  static func claims(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= largest else { return false }
    let claim = try? JSON.decode(SchemaClaim.self, from: bytes, path: "", hint: "")
    return claim?.schema.hasPrefix("\(Schema.baseline.name)/") ?? false
  }

  /// The baseline as JSON with its digest; equal values give equal bytes, except for the approval.
  static func encode(_ baseline: Baseline) -> [UInt8] {
    var baseline = baseline
    baseline.composition = baseline.composition?.keepingLibraries(mostLibraries)
    let summary = ReviewSummary(of: baseline)
    func encoded(_ digest: String) -> [UInt8] {
      summary.before(
        JSON.encode(WithSchema(schema: .baseline, content: WithDigest(digest: digest, baseline: baseline)), .pretty))
    }
    return withShortLists(encoded(BaselineDigest(of: encoded("")).computed))
  }

  /// Has each list on one line: a changed metric is one line of a diff, and git does not mix the values of two approvals.
  static func withShortLists(_ json: [UInt8]) -> [UInt8] {
    var (state, isList) = (JSON.StringState(), false)
    return json.reduce(into: []) { text, byte in
      if isList, !state.isInside, JSON.isSpace(byte) { return }
      state.read(byte)
      text.append(byte)
      guard !state.isInside else { return }
      if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") { isList = byte == UInt8(ascii: "[") }
      if isList, byte == UInt8(ascii: ",") { text.append(0x20) }
    }
  }

  /// Decodes a baseline; the path is for messages.
  ///
  /// - Throws: also if it is not what was approved; the error then has a ``FileError/defect``.
  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> Baseline {
    let baseline: Baseline
    do throws(FileError) { baseline = try content(of: bytes, path: path) } catch {
      throw error.with(ConflictVersions(bytes)?.defect)
    }
    guard let approval = baseline.approval, !BaselineDigest(of: bytes).isIntact else { return baseline }
    let problem = "is not as it was approved: it was edited, or a merge took parts of two baselines"
    throw FileError(code: .malformed, path: path, problem: problem, hint: hint).with(.changed(approval: approval))
  }

  private static let hint = "restore the file from version control, or recreate it with `highwater approve`"

  /// The baseline, whether or not the digest is that of the content.
  fileprivate static func content(of bytes: [UInt8], path: String) throws(FileError) -> Baseline {
    try JSON.decode(DecodedBaseline.self, from: bytes, path: path, hint: hint).baseline
  }

  /// Whether the file may have a defect; without decoding it, since a project may have thousands.
  static func isSuspect(_ bytes: [UInt8]) -> Bool {
    ConflictVersions(bytes) != nil || !BaselineDigest(of: bytes).isIntact
  }
}

extension FileError {
  fileprivate func with(_ defect: BaselineDefect?) -> FileError {
    var error = self
    error.defect = defect
    return error
  }
}

extension ConflictVersions {
  /// Both sides; nil for one that is no baseline.
  ///
  /// Git has merged what did not conflict, so that no digest fits.
  var baselines: (ours: Baseline?, theirs: Baseline?) {
    (try? BaselineFile.content(of: ours, path: ""), try? BaselineFile.content(of: theirs, path: ""))
  }

  fileprivate var defect: BaselineDefect {
    let (ours, theirs) = baselines
    return BaselineDefect(betweenOurs: ours, theirs: theirs)
  }
}

private struct WithDigest: Encodable {
  let digest: String
  let baseline: Baseline

  private enum CodingKeys: CodingKey { case digest }

  func encode(to encoder: any Encoder) throws {
    try baseline.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(digest, forKey: .digest)
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
