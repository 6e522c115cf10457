import FoundationEssentials

/// The JSON of our documents as bytes: pretty-printed, sorted keys, one newline at the end.
enum JSONText {
  /// Objects and lists within one another; our documents have six.
  private static let deepest = 32

  static func encode(_ document: some Encodable) -> [UInt8] {
    let data = data(of: document)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 1)
    bytes.append(contentsOf: data)
    bytes.append(newline)
    return bytes
  }

  /// Encodes a document whose long list is written entry by entry: the one under `key` of its outermost object, which
  /// is empty in `document`.
  ///
  /// The encoder holds a document as a tree of objects before it writes a byte, and this keeps the tree to one entry: a
  /// result of 1000 scenarios with 20 repetitions (15.4 MB) raised `VmHWM` by 32 MB and not by 66 (debug build, 2026-11).
  static func encode(_ document: some Encodable, filling key: String, with entries: [some Encodable]) -> [UInt8] {
    guard !entries.isEmpty else { return encode(document) }
    var (bytes, tail) = frame(document, around: key)
    for (index, entry) in entries.enumerated() {
      if index > 0 { bytes += [UInt8(ascii: ","), newline] }
      bytes += self.entry(entry, indentedBy: 4)
    }
    return bytes + tail
  }

  /// A document in two parts: what stands before and after the entries of the list under `key` of its outermost object,
  /// which is empty in `document`.
  ///
  /// The second part begins with the end of the last entry's line. Only a document that is no entry ends in a newline.
  static func frame(
    _ document: some Encodable,
    around key: String,
    indentedBy width: Int = 0
  ) -> (head: [UInt8], tail: [UInt8]) {
    let indent = String(repeating: " ", count: width)
    let whole = width > 0 ? entry(document, indentedBy: width) : encode(document)
    // No text can hold these bytes, since a quote and a line feed within one are escaped.
    guard let start = whole.firstRange(of: Array("\n\(indent)  \"\(key)\" : [\n".utf8)) else {
      preconditionFailure("the document has an empty list under `\(key)`")
    }
    // Where the entries will stand is an empty line.
    return (Array(whole[..<start.upperBound]), Array(whole[start.upperBound...]))
  }

  /// A document as an entry of another one's list, without a newline at its end.
  static func entry(_ document: some Encodable, indentedBy width: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, line) in [UInt8](data(of: document)).split(separator: newline, omittingEmptySubsequences: false)
      .enumerated()
    {
      if index > 0 { bytes.append(newline) }
      if !line.isEmpty { bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: width)) }
      bytes.append(contentsOf: line)
    }
    return bytes
  }

  private static let newline: UInt8 = 0x0a

  private static func data(of document: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(document)
    } catch {
      preconditionFailure("documents hold texts and finite numbers only, which JSON can always say: \(error)")
    }
  }

  /// Decodes a document; `path` and `hint`, which heals a file that is broken as a whole, are for messages.
  static func decode<Document: Decodable>(
    _ type: Document.Type,
    from bytes: [UInt8],
    path: String,
    hint: String
  ) throws(FileError) -> Document {
    do throws(JSONGrammar.Fault) {
      try JSONGrammar.check(bytes, deepest: deepest)
    } catch {
      throw FileError(
        code: .malformed, path: path, position: error.position, problem: error.problem, hint: error.hint ?? hint
      )
    }
    guard let tree = JSONTree(bytes) else {
      throw FileError(code: .malformed, path: path, problem: "is not valid JSON", hint: hint)
    }
    let fault: DocumentFault
    do {
      return try Document(from: JSONNode(tree))
    } catch let found as DocumentFault {
      fault = found
    } catch {
      fault = DocumentFault(problem: "cannot be read")
    }
    let problem = fault.path.isEmpty ? fault.problem : "`\(fault.place)` \(fault.problem)"
    throw FileError(code: fault.code, path: path, problem: problem, hint: fault.hint ?? hint)
  }
}
