import GateCore
import Glibc

/// The text of a YAML file, taken from disk within limits.
enum ProjectText {
  /// 1,000 scenarios of 20 lines are half a mebibyte.
  static let mostBytes = 4 << 20

  /// Reads a regular file as UTF-8, without a byte order mark; messages call it `name`.
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
    func failure(_ problem: String, hint: String? = nil) -> ProjectError {
      ProjectError(Diagnostic(place: name, problem: problem, hint: hint))
    }
    // A FIFO would block the open, and a terminal must not become ours.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw errno == ENOENT ? failure("there is no such file") : failure("cannot be read: \(systemMessage(errno))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read: \(systemMessage(errno))") }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw failure("is a folder, not a file", hint: "name the project file in it")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure("is not a regular file") }
    guard let bytes = contents(of: descriptor) else { throw failure("cannot be read: \(systemMessage(errno))") }
    guard bytes.count <= mostBytes else {
      throw failure("is larger than 4 MiB", hint: "split its scenarios over several files, and `include` those")
    }
    return bytes
  }

  /// At most one byte more than is allowed, since a file can grow after its size was asked; nil with `errno` set.
  private static func contents(of descriptor: CInt) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= mostBytes {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { break }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      bytes += chunk.prefix(count)
    }
    return bytes
  }

  private static func systemMessage(_ code: CInt) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }

  /// The first place that is no text, for a file that is known to have one.
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
          problem: "the character U+\(String(scalar.value, radix: 16, uppercase: true)) may not stand in a YAML file",
          hint: #"write it in double quotes as an escape, such as `"\x1b"`"#
        )
      }
      column += 1
    }
    return Diagnostic(
      place: "\(name):\(line):\(column)",
      problem: "the file is not UTF-8 from here on",
      hint: "save it as UTF-8"
    )
  }
}
