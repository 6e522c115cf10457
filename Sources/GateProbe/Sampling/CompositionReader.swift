import GateCore

/// Reads what the memory of a process consists of.
///
/// The totals are those of `status`: exact, cheap, and they tell the pages of any tmpfs from those of other files,
/// which names of mappings do not. `smaps` adds the heap (the `brk` area, where small allocations of the main thread
/// lie) and the stack of the first thread; both are parts of the anonymous memory.
enum CompositionReader {
  /// nil where the process is no more, or its mappings may not be read.
  static func composition(of pid: Int32) -> Composition? {
    let status = SmallFile.bytes(at: "/proc/\(pid)/status")
    guard let figures = status?.withUnsafeBytes(ProcText.figures(inStatus:)),
      let file = ProcFile(path: "/proc/\(pid)/smaps")
    else { return nil }
    var mappings = MappingSums()
    let isWhole = withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 16) { buffer in
      sum(file, into: &mappings, buffer: buffer)
    }
    guard isWhole, mappings.count > 0 else { return nil }
    return Composition(
      anonymous: figures.anonymous, file: figures.file, shared: figures.shared,
      stack: .kibibytes(mappings.stack), heap: .kibibytes(mappings.heap)
    )
  }

  /// Goes through the file piece by piece; whether its end was reached.
  private static func sum(
    _ file: borrowing ProcFile,
    into mappings: inout MappingSums,
    buffer: UnsafeMutableRawBufferPointer
  ) -> Bool {
    var offset = 0
    while let piece = file.read(into: buffer, at: offset) {
      guard !piece.isEmpty else { return true }
      mappings.take(piece)
      offset += piece.count
    }
    return false
  }
}

/// Sums the resident memory of the mappings that have a kind of their own, from the text of `smaps` in pieces.
struct MappingSums {
  private enum Kind {
    case heap, stack, other
  }

  /// In KiB.
  private(set) var heap: Int64 = 0
  private(set) var stack: Int64 = 0
  private(set) var count = 0

  private var kind = Kind.other
  /// The start of a line whose end has not come yet; what is beyond tells nothing that is needed.
  private var line: [UInt8] = []
  private static let longestLine = 256

  init() {
    line.reserveCapacity(Self.longestLine)
  }

  /// Takes the next piece of the text, which may end within a line.
  mutating func take(_ piece: UnsafeRawBufferPointer) {
    for byte in piece {
      if byte == UInt8(ascii: "\n") {
        endLine()
        line.removeAll(keepingCapacity: true)
      } else if line.count < Self.longestLine {
        line.append(byte)
      }
    }
  }

  private mutating func endLine() {
    guard let first = line.first else { return }
    // A mapping begins with its address in lower case; its figures begin with upper case.
    if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(first)
    {
      count += 1
      kind = ends("[heap]") ? .heap : ends("[stack]") ? .stack : .other
    } else if kind != .other, let amount = line.withUnsafeBytes({ ProcText.value(of: "Rss:", in: $0, at: 0) }) {
      if kind == .heap { heap += amount } else { stack += amount }
    }
  }

  /// Whether the line ends with the name of a mapping, and holds no path: a file may be called `[heap]` too.
  private func ends(_ name: StaticString) -> Bool {
    name.withUTF8Buffer { line.suffix($0.count).elementsEqual($0) } && !line.contains(UInt8(ascii: "/"))
  }
}
