import Glibc

/// A temporary folder, removed on `deinit`.
final class TestFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/highwater-markers-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Program.Failure(call: "mkdtemp", code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    _ = try? Program("/bin/rm", ["-rf", path]).end()
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, and creates its folders.
  @discardableResult
  func write(_ content: String, to name: String) throws -> String {
    try write(Array(content.utf8), to: name)
  }

  @discardableResult
  func write(_ content: [UInt8], to name: String) throws -> String {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o700)
    }
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Program.Failure(call: "open \(name)", code: errno) }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, content, content.count) == content.count else {
      throw Program.Failure(call: "write \(name)", code: errno)
    }
    return file(name)
  }

  /// The bytes of a file; none if it is missing.
  func bytes(of name: String) -> [UInt8] {
    let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
