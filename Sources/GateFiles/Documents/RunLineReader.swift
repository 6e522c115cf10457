import Glibc

/// Cuts a file of any size, or standard input, into lines.
package struct RunLineReader: ~Copyable {
  package enum Line: Sendable {
    case whole([UInt8])
    /// It had more than ``RunLine/largest`` bytes, and nobody has kept them.
    case tooLong
  }

  private let file: Descriptor
  private let path: String
  private var chunk: [UInt8] = []
  private var position = 0

  /// Opens a file; `-` is standard input.
  package init(_ path: String) throws(FileError) {
    self.path = path
    file = try Self.open(path)
  }

  private static func open(_ path: String) throws(FileError) -> Descriptor {
    do throws(SystemError) {
      let file = try Descriptor.open(path == "-" ? "/dev/stdin" : path, O_RDONLY)
      if try file.kind() == .folder { throw SystemError(number: EISDIR) }
      return file
    } catch {
      throw error.whileReading(path)
    }
  }

  /// The next line without its line feed; nil at the end.
  package mutating func next() throws(FileError) -> Line? {
    var line: [UInt8] = []
    var length = 0
    while true {
      if position == chunk.count {
        do throws(SystemError) { chunk = try file.readChunk(1 << 20) } catch { throw error.whileReading(path) }
        position = 0
        if chunk.isEmpty { return length == 0 ? nil : length > RunLine.largest ? .tooLong : .whole(line) }
      }
      let end = chunk[position...].firstIndex(of: 0x0a)
      let part = chunk[position..<(end ?? chunk.count)]
      length += part.count
      if length <= RunLine.largest { line += part } else { line = [] }
      position = end.map { $0 + 1 } ?? chunk.count
      if end != nil { return length > RunLine.largest ? .tooLong : .whole(line) }
    }
  }
}
