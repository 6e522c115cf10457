import FoundationEssentials

/// The JSON of our documents as bytes: pretty-printed, sorted keys, one newline at the end.
enum JSONText {
  /// Objects and lists within one another; our documents have six.
  private static let deepest = 32

  static func encode(_ document: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return [UInt8](try encoder.encode(document)) + [0x0a]
    } catch {
      preconditionFailure("documents hold texts and finite numbers only, which JSON can always say: \(error)")
    }
  }

  /// - Parameters:
  ///   - path: the file's, for messages.
  ///   - hint: what heals a file that is broken as a whole.
  static func decode<Document: Decodable>(
    _ type: Document.Type,
    from bytes: [UInt8],
    path: String,
    hint: String
  ) throws(FileError) -> Document {
    if let fault = JSONShape.fault(in: bytes, deepest: deepest) {
      throw FileError(
        code: .malformed, path: path, position: fault.position, problem: fault.problem, hint: fault.hint ?? hint
      )
    }
    let fault: DocumentFault
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let found as DocumentFault {
      fault = found
    } catch let DecodingError.dataCorrupted(context) where context.codingPath.isEmpty {
      let position = position(in: "\(context.underlyingError.map { "\($0)" } ?? "")")
      throw FileError(code: .malformed, path: path, position: position, problem: "is not valid JSON", hint: hint)
    } catch let error as DecodingError {
      fault = DocumentFault(error)
    } catch {
      fault = DocumentFault(problem: "cannot be read")
    }
    let problem = fault.path.isEmpty ? fault.problem : "`\(fault.place)` \(fault.problem)"
    throw FileError(code: fault.code, path: path, problem: problem, hint: fault.hint ?? hint)
  }

  /// Takes `3:5` out of the decoder's `… around line 3, column 5.`
  private static func position(in message: String) -> String? {
    let numbers = message.split { !$0.isNumber }.suffix(2)
    guard message.contains("line "), message.contains("column "), numbers.count == 2 else { return nil }
    return numbers.joined(separator: ":")
  }
}

/// What can be said of a text before it is read as JSON: that it is all there, and not made to exhaust a reader.
enum JSONShape {
  struct Fault {
    var position: String?
    var problem: String
    var hint: String?
  }

  static func fault(in bytes: [UInt8], deepest: Int) -> Fault? {
    guard let first = bytes.first(where: { !isSpace($0) }) else { return Fault(problem: "is empty") }
    if bytes.starts(with: Array("<<<<<<< ".utf8)) || contains(Array("\n<<<<<<< ".utf8), in: bytes) {
      let hint = "settle the conflict: take one side whole, or approve again"
      return Fault(problem: "holds conflict marks of a merge", hint: hint)
    }
    guard first == UInt8(ascii: "{") else { return Fault(position: "1:1", problem: "is not a JSON object") }
    return nestingFault(in: bytes, deepest: deepest)
  }

  private static func nestingFault(in bytes: [UInt8], deepest: Int) -> Fault? {
    var (depth, inText, escaped) = (0, false, false)
    for (index, byte) in bytes.enumerated() {
      if inText {
        if escaped { escaped = false } else { (escaped, inText) = (byte == 0x5c, byte != 0x22) }
        continue
      }
      switch byte {
      case 0x22: inText = true
      case 0x7b, 0x5b: depth += 1
      case 0x7d, 0x5d: depth -= 1
      default: break
      }
      if depth > deepest {
        let problem = "is nested deeper than \(deepest) levels"
        return Fault(position: position(of: index, in: bytes), problem: problem)
      }
    }
    guard depth > 0 || inText else { return nil }
    return Fault(position: position(of: bytes.count, in: bytes), problem: "ends in the middle: it is cut short")
  }

  private static func position(of index: Int, in bytes: [UInt8]) -> String {
    let before = bytes[..<index]
    let line = before.count { $0 == 0x0a }
    let column = before.reversed().prefix { $0 != 0x0a }.count
    return "\(line + 1):\(column + 1)"
  }

  private static func contains(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
    let first = part[0]
    return bytes.indices.contains { index in
      bytes[index] == first && bytes[index...].starts(with: part)
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }
}
