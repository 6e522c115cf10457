import GateCore

/// The digest that a baseline file has of itself: the rest of the file without its white space.
///
/// A merge may take the values of one approval and parts of another without a conflict. Editors and git may change white
/// space and line ends. The digest is against accidents, not against people who can edit it, too.
struct BaselineDigest {
  /// nil in files of earlier versions.
  let stored: String?
  let computed: String

  var isIntact: Bool { stored == nil || stored == computed }

  /// The member's name and the start of its value.
  ///
  /// A string cannot contain it, since its quotes would be escaped.
  private static let member = Array(#""digest":""#.utf8)

  init(of file: [UInt8]) {
    let (member, quote) = (Self.member, UInt8(ascii: "\""))
    var content: [UInt8] = []
    content.reserveCapacity(file.count)
    var stored: [UInt8] = []
    var (matched, isEnded, state) = (0, false, JSON.StringState())
    for byte in file where state.isInside || !JSON.isSpace(byte) {
      state.read(byte)
      if matched == member.count, !isEnded {
        isEnded = byte == quote
        if !isEnded { stored.append(byte) }
      } else {
        if !isEnded { matched = byte == member[matched] ? matched + 1 : byte == quote ? 1 : 0 }
        content.append(byte)
      }
    }
    self.stored = matched == member.count ? String(decoding: stored, as: UTF8.self) : nil
    computed = StableHash.hexadecimal(of: content)
  }
}
