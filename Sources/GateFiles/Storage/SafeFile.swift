import Glibc
import LinuxSystem

/// Reads files that anybody may have written, and writes files that are never left incomplete.
package enum SafeFile {
  /// Reads a whole regular file.
  ///
  /// A folder, pipe, socket or device is refused, and opening one has no effect and never waits.
  ///
  /// - Throws: also where the file has more than `most` bytes.
  package static func read(_ path: String, atMost most: Int) throws(FileError) -> [UInt8] {
    try checkSpelling(path)
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
      let kind = try file.kind()
      // The kernel's own errors for what has no bytes to read.
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

  /// Writes a file so that it is either the old one or the new one, whole, even if the machine stops in between.
  ///
  /// The bytes go to a new file in the same folder, are synced, and take the place of the old file at once. Missing
  /// folders are made. The mode is 0644 less the umask. A symbolic link at `path` is replaced, not followed; a folder,
  /// pipe or device there is refused.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    try write(to: path) { sink throws(FileError) in try sink(bytes) }
  }

  /// Writes a file in the same way from the pieces that `produce` passes to its argument; where that throws, the old file
  /// stays.
  package static func write(
    to path: String,
    _ produce: (_ sink: ([UInt8]) throws(FileError) -> Void) throws(FileError) -> Void
  ) throws(FileError) {
    try checkSpelling(path)
    try refuseSpecialFile(path)
    let parent = folder(of: path)
    try makeFolder(parent)
    let folder: Descriptor
    do throws(ErrorNumber) { folder = try Descriptor.folder(parent) } catch { throw error.whileWriting(path) }
    try folder.replaceFile(name(of: path), mode: 0o644, orThrow: { $0.whileWriting(path) }, produce)
  }

  /// Makes a folder and those above it, where they are missing.
  package static func makeFolder(_ path: String) throws(FileError) {
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
    guard mkdir(path, 0o777) != 0 else { return }
    let error = ErrorNumber.last
    // Another process may have made it since; what is there instead of a folder shows in what follows.
    if error.code != EEXIST { throw error.whileWriting(path) }
  }

  /// The folder of a path by its text, as `dirname(3)` has it.
  static func folder(of path: String) -> String {
    let trimmed = path.reversed().drop { $0 == "/" }
    let parent = trimmed.drop { $0 != "/" }.drop { $0 == "/" }
    guard parent.isEmpty else { return String(parent.reversed()) }
    return path.hasPrefix("/") ? "/" : "."
  }

  /// What a path has after its folder.
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
      problem: path.isEmpty ? "the path is empty" : "the path contains a zero byte"
    )
  }

  /// A rename would put a plain file in the place of `/dev/null` or of a pipe.
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
