import Glibc
import LinuxSystem

/// Reads files that anyone may have written, and writes files atomically.
enum SafeFile {
  /// Reads a whole regular file.
  ///
  /// A folder, pipe, socket or device is rejected; opening one has no effect and never blocks.
  ///
  /// - Throws: also if the file has more than `most` bytes.
  static func read(_ path: String, atMost most: Int) throws(FileError) -> [UInt8] {
    try checkSpelling(path)
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
      let kind = try file.kind()
      // The kernel's own errors for files without bytes to read.
      guard case .regular(let size) = kind else { throw ErrorNumber(kind == .folder ? EISDIR : ENXIO) }
      let bytes = size > most ? nil : try file.read(atMost: most + 1, expecting: size)
      if let bytes, bytes.count <= most { return bytes }
    } catch {
      throw error.whileReading(path)
    }
    throw FileError(
      code: .tooLarge, path: path, problem: "is larger than \(displayText(most)), the limit for this file",
      hint: "check that this is the file you mean"
    )
  }

  /// Writes a file atomically: it is either the old or the new file, even if the machine crashes in between.
  ///
  /// The bytes go to a new file in the same folder, which is synced and renamed over the old file. Missing folders are
  /// created. The mode is 0644 without the umask. A symbolic link at `path` is replaced, not followed; a folder, pipe
  /// or device is rejected.
  static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    try write(to: path) { sink throws(FileError) in try sink(bytes) }
  }

  /// Writes a file atomically from the pieces that `produce` passes to its argument; if it throws, the old file stays.
  ///
  /// Unless it `isSynced`, the file may be empty after a crash of the machine.
  static func write(
    to path: String,
    isSynced: Bool = true,
    _ produce: (_ sink: ([UInt8]) throws(FileError) -> Void) throws(FileError) -> Void
  ) throws(FileError) {
    try checkSpelling(path)
    try refuseSpecialFile(path)
    let parent = folder(of: path)
    try makeFolder(parent)
    let folder: Descriptor
    do throws(ErrorNumber) { folder = try Descriptor.folder(parent) } catch { throw error.whileWriting(path) }
    try folder.replaceFile(
      name(of: path), mode: 0o644, isSynced: isSynced, orThrow: { $0.whileWriting(path) }, produce)
  }

  /// Adds bytes to the end of a regular file, which is created if it is missing; an empty line separates them from
  /// earlier text.
  static func append(_ bytes: [UInt8], to path: String) throws(FileError) {
    try checkSpelling(path)
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode: 0o644)
      guard case .regular(let size) = try file.kind() else { throw ErrorNumber(ENXIO) }
      try file.writeAll((size > 0 ? [0x0a] : []) + bytes)
    } catch {
      throw error.whileWriting(path)
    }
  }

  /// Checks that a file can be written, and creates missing folders.
  static func prepareToWrite(_ path: String) throws(FileError) {
    try checkSpelling(path)
    try refuseSpecialFile(path)
    try prepareFolder(folder(of: path), for: path)
  }

  /// Creates a folder if it is missing, and checks that files can be written to it; errors name `path`.
  static func prepareFolder(_ folder: String, for path: String) throws(FileError) {
    try makeFolder(folder)
    let probe = "\(folder)/.highwater-\(UInt64.random(in: 0 ... .max)).tmp"
    do throws(ErrorNumber) {
      let file = try Descriptor.open(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      defer { unlink(probe.systemText) }
      // On a full disk a file can be created but not written.
      try file.writeAll([0])
    } catch {
      throw error.whileWriting(path)
    }
  }

  /// Creates a folder and its missing parents.
  static func makeFolder(_ path: String) throws(FileError) {
    try checkSpelling(path)
    do throws(ErrorNumber) {
      switch try Descriptor.kind(of: path, followingLinks: true) {
      case .folder?: return
      case nil: break
      default: throw ErrorNumber(ENOTDIR)
      }
    } catch {
      throw error.whileWriting(path)
    }
    let parent = folder(of: path)
    if parent != path { try makeFolder(parent) }
    guard mkdir(path.systemText, 0o777) != 0 else { return }
    let error = ErrorNumber.last
    // Another process may have created it; anything else than a folder causes an error later.
    if error.code != EEXIST { throw error.whileWriting(path) }
  }

  /// Creates a folder that git ignores; one that exists stays as it is.
  static func makeIgnoredFolder(_ path: String) throws(FileError) {
    guard access(path.systemText, F_OK) != 0 else { return }
    try makeFolder(path)
    try write(Array("*\n".utf8), to: "\(path)/.gitignore")
  }

  /// The folder of a path, textually, as in `dirname(3)`.
  static func folder(of path: String) -> String {
    let trimmed = path.reversed().drop { $0 == "/" }
    let parent = trimmed.drop { $0 != "/" }.drop { $0 == "/" }
    guard parent.isEmpty else { return String(parent.reversed()) }
    return path.hasPrefix("/") ? "/" : "."
  }

  /// The last component of a path.
  private static func name(of path: String) -> String {
    let parent = folder(of: path)
    guard path.hasPrefix(parent), parent != "." || path.hasPrefix("./") else { return path }
    return String(path.dropFirst(parent.count).drop { $0 == "/" })
  }

  /// A C string ends at its first zero, so a path with one would name another file.
  private static func checkSpelling(_ path: String) throws(FileError) {
    guard path.isEmpty || path.utf8.contains(0) else { return }
    throw FileError(
      code: .notFound, path: path.replacing("\0", with: "\u{FFFD}"),
      problem: path.isEmpty ? "the path is empty" : "the path contains a NUL byte"
    )
  }

  /// A rename would replace `/dev/null` or a pipe with a regular file.
  private static func refuseSpecialFile(_ path: String) throws(FileError) {
    let kind: Descriptor.Kind?
    do throws(ErrorNumber) {
      kind = try Descriptor.kind(of: path, followingLinks: true)
    } catch let error where error.code == ELOOP {
      return
    } catch {
      throw error.whileWriting(path)
    }
    switch kind {
    case .regular?, .link?, nil: return
    case .folder?:
      throw FileError(code: .notAFile, path: path, problem: "is a folder, not a file", hint: "name a file in it")
    case .other?:
      throw FileError(
        code: .notAFile, path: path, problem: "is a pipe or a device, not a file",
        hint: "name a file, or `-` for standard output"
      )
    }
  }

  private static func displayText(_ bytes: Int) -> String {
    switch bytes {
    case (1 << 20)... where bytes % (1 << 20) == 0: "\(bytes >> 20) MiB"
    case (1 << 10)... where bytes % (1 << 10) == 0: "\(bytes >> 10) KiB"
    default: "\(bytes) bytes"
    }
  }
}
