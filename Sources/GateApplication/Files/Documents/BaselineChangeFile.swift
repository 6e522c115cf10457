import GateCore

/// Files of approved changes (`highwater.baseline-change/1`, file-formats.md, The change of a baseline).
enum BaselineChangeFile {
  static func encode(_ change: BaselineChange) -> [UInt8] {
    let document = JSON.encode(WithSchema(schema: .baselineChange, content: change), .pretty)
    return BaselineFile.withShortLists(ReviewSummary(of: change).before(document))
  }

  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> BaselineChange {
    try JSON.decode(
      Checked.self, from: bytes, path: path,
      hint: "restore the file from version control, or remove it and approve the change again"
    ).change
  }

  private struct Checked: Decodable {
    let change: BaselineChange

    init(from decoder: any Decoder) throws {
      try Schema.baselineChange.check(decoder)
      change = try BaselineChange(from: decoder)
      try DocumentCheck(decoder).at("environment").check(name: change.environment)
    }
  }
}
