import GateCore

/// Reads the text of a YAML file, within limits.
enum ProjectText {
  /// 1,000 scenarios of 20 lines take half a mebibyte.
  static let mostBytes = 4 << 20

  /// Reads a regular file as UTF-8, without a byte order mark; `name` is its name in messages.
  static func read(_ path: String, name: String) throws(ProjectError) -> String {
    var bytes = try readBytes(path, name: name)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
    let isClean = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
    guard isClean, let text = String(validating: bytes, as: UTF8.self) else {
      throw ProjectError(firstFault(in: bytes, name: name))
    }
    return text
  }

  private static func readBytes(_ path: String, name: String) throws(ProjectError) -> [UInt8] {
    do throws(FileError) {
      return try SafeFile.read(path, atMost: mostBytes)
    } catch {
      let isTooLarge = error.code == .tooLarge
      let hint = isTooLarge ? "split its scenarios over several files, and `include` those" : error.hint
      throw ProjectError(Diagnostic(place: name, problem: error.problem, hint: hint))
    }
  }

  /// The first invalid byte sequence or character, in a file that has one.
  private static func firstFault(in bytes: [UInt8], name: String) -> Diagnostic {
    var (line, column) = (1, 1)
    var decoder = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    while case .valid(let encoded) = decoder.parseScalar(from: &iterator) {
      let scalar = Unicode.UTF8.decode(encoded)
      if scalar == "\n" {
        (line, column) = (line + 1, 1)
        continue
      }
      if scalar.value < 0x20 && scalar != "\t" && scalar != "\r" || scalar.value == 0x7f {
        return Diagnostic(
          place: "\(name):\(line):\(column)",
          problem: "the character U+\(String(scalar.value, radix: 16, uppercase: true)) is not allowed in a YAML file",
          hint: #"write it in double quotes as an escape, such as `"\x1b"`"#
        )
      }
      column += 1
    }
    return Diagnostic(
      place: "\(name):\(line):\(column)",
      problem: "invalid UTF-8 from here on",
      hint: "save it as UTF-8"
    )
  }
}
