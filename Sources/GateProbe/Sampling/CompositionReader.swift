import GateCore

/// Reads the composition of a process's memory.
///
/// The totals come from `status`, which is exact and cheap, and distinguishes tmpfs pages from those of other files, as
/// mapping names do not. `smaps` adds the heap (the `brk` area with the main thread's small allocations), the stack of
/// the first thread, lazily freed memory and huge pages (all four are parts of the anonymous memory), and the files of
/// the file pages.
enum CompositionReader {
  /// Reads the files in the folder of a process or thread under `/proc`; returns nil if it has ended, or its mappings may
  /// not be read.
  static func composition(inFolder folder: String) -> Composition? {
    let status = SmallFile.bytes(at: "\(folder)/status")
    guard let memory = status?.withUnsafeBytes(ProcText.memory(inStatus:)),
      let file = ProcFile(path: "\(folder)/smaps")
    else { return nil }
    return composition(in: file, with: memory)
  }

  /// The same from a copy of the mappings, and the values read at the same time.
  static func composition(in file: borrowing ProcFile, with memory: MemoryReading) -> Composition? {
    guard let mappings = mappings(in: file), mappings.count > 0 else { return nil }
    var composition = Composition(
      anonymous: memory.anonymous, file: memory.file, shared: memory.shared,
      stack: .kibibytes(mappings.stack), heap: .kibibytes(mappings.heap),
      lazilyFreed: .kibibytes(mappings.lazilyFreed), hugePages: .kibibytes(mappings.hugePages),
      libraries: mappings.libraries
    )
    composition.codeFiles = mappings.codeFiles.sorted()
    return composition
  }

  /// Reads the file in pieces; nil if a read failed before its end.
  private static func mappings(in file: borrowing ProcFile) -> MappingSums? {
    var mappings = MappingSums()
    let isWhole = withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 16) { buffer in
      sum(file, into: &mappings, buffer: buffer)
    }
    return isWhole ? mappings : nil
  }

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

/// Sums the resident memory of mappings by kind, from the text of `smaps` in pieces.
///
/// All sums are in KiB.
struct MappingSums {
  private enum Kind {
    case heap, stack, other
    case file(name: String)
  }

  private(set) var heap: Int64 = 0
  private(set) var stack: Int64 = 0
  private(set) var lazilyFreed: Int64 = 0
  private(set) var hugePages: Int64 = 0
  private(set) var count = 0
  /// By the last part of the path, or the whole of shared memory's.
  private var files: [String: Int64] = [:]
  /// The paths of executable mappings; at most ``maxCodeFiles``.
  private(set) var codeFiles: Set<String> = []

  private static let maxCodeFiles = 1000

  private var kind = Kind.other
  /// The incomplete last line, cut at ``maxLineLength``.
  private var line: [UInt8] = []
  /// Enough for an address and a path of at most 4096 bytes (PATH_MAX).
  private static let maxLineLength = 4200

  /// Prefixes of paths whose pages count as shared memory, not as file pages.
  private static let sharedMemory = neverInFolder + ["/dev/shm/"]
  private static let neverInFolder = ["/memfd:", "/SYSV", "/dev/zero", "/i915", "/[aio]"]

  init() {
    line.reserveCapacity(256)
  }

  /// Takes the next piece of the text, which may end within a line.
  mutating func take(_ piece: UnsafeRawBufferPointer) {
    for byte in piece {
      if byte == UInt8(ascii: "\n") {
        endLine()
        line.removeAll(keepingCapacity: true)
      } else if line.count < Self.maxLineLength {
        line.append(byte)
      }
    }
  }

  /// The mapped files by descending size, then by name.
  var libraries: [Composition.Library] {
    files.filter { $0.value > 0 }
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .prefix(Composition.mostLibraries)
      .map { Composition.Library(name: $0.key, resident: .kibibytes($0.value)) }
  }

  private mutating func endLine() {
    guard !line.isEmpty else { return }
    // Not `line.first`, which allocates without optimisation: this runs for each of many lines.
    let first = line[0]
    // A mapping line starts with a lower-case address, a value line with an upper-case letter.
    if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(first)
    {
      count += 1
      kind = kindOfMapping()
      noteCode()
    } else {
      takeValue()
    }
  }

  private mutating func takeValue() {
    switch line[0] {
    case UInt8(ascii: "R"): value(of: "Rss:").map { addResident($0) }
    case UInt8(ascii: "L"): value(of: "LazyFree:").map { Self.add($0, to: &lazilyFreed) }
    case UInt8(ascii: "A"):
      value(of: "AnonHugePages:").map { Self.add($0, to: &hugePages) }
      // Written pages of a private mapping no longer belong to the file.
      if case .file(let name) = kind { value(of: "Anonymous:").map { Self.add(-$0, to: &files[name, default: 0]) } }
    default: break
    }
  }

  private mutating func addResident(_ amount: Int64) {
    switch kind {
    case .heap: Self.add(amount, to: &heap)
    case .stack: Self.add(amount, to: &stack)
    case .file(let name): Self.add(amount, to: &files[name, default: 0])
    case .other: break
    }
  }

  private static func add(_ amount: Int64, to sum: inout Int64) {
    sum = max(-ProcText.largest, min(sum + amount, ProcText.largest))
  }

  private func value(of key: StaticString) -> Int64? {
    line.withUnsafeBytes { ProcText.value(of: key, in: $0, at: 0) }
  }

  /// The kind, from the name after address, permissions, offset, device and inode; the name of a file is its path.
  private func kindOfMapping() -> Kind {
    guard let slash = line.firstIndex(of: UInt8(ascii: "/")) else {
      return ends("[heap]") ? .heap : ends("[stack]") ? .stack : .other
    }
    let path = String(decoding: line[slash...], as: UTF8.self)
    guard !Self.sharedMemory.contains(where: path.hasPrefix) else { return .file(name: Self.nameOfShared(path)) }
    return .file(name: String(path.split(separator: "/").last ?? ""))
  }

  /// A path of shared memory; without the kernel's mark of a file that no folder has where that says nothing, as no folder
  /// ever had it.
  static func nameOfShared(_ path: String) -> String {
    let isMarked = path.hasSuffix(deletion) && neverInFolder.contains(where: path.hasPrefix)
    return isMarked ? String(path.dropLast(deletion.count)) : path
  }

  private static let deletion = " (deleted)"

  /// Stores the path of an executable mapping; the permissions, such as `r-xp`, follow the addresses.
  private mutating func noteCode() {
    guard case .file = kind, let space = line.firstIndex(of: UInt8(ascii: " ")), line.count > space + 3,
      line[space + 3] == UInt8(ascii: "x"), let slash = line.firstIndex(of: UInt8(ascii: "/")),
      codeFiles.count < Self.maxCodeFiles
    else { return }
    codeFiles.insert(String(decoding: line[slash...], as: UTF8.self))
  }

  private func ends(_ name: StaticString) -> Bool {
    name.withUTF8Buffer { line.suffix($0.count).elementsEqual($0) }
  }
}
