package import Glibc

/// An open file descriptor, closed with its last owner.
///
/// Calls that a signal interrupts are repeated.
package final class Descriptor: Sendable {
  /// What a path or a descriptor leads to.
  package enum Kind: Equatable {
    case regular(size: Int)
    case folder, link, other
  }

  package let number: Int32

  package init(owning number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// Opens a path (`open(2)`); it is closed in programs that this one starts.
  package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(ErrorNumber) -> Descriptor {
    Descriptor(owning: try retrying { Glibc.open(path.systemText, flags | O_CLOEXEC | O_NOCTTY, mode) })
  }

  /// Opens what this folder has under `name`, unless that is a symbolic link (`openat(2)`).
  package func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(ErrorNumber) -> Descriptor {
    let flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY
    return Descriptor(owning: try retrying { openat(number, name.systemText, flags, mode) })
  }

  /// Renames a file of this folder (`renameat(2)`).
  package func rename(_ name: String, to newName: String) throws(ErrorNumber) {
    _ = try retrying { renameat(number, name.systemText, number, newName.systemText) }
  }

  /// Removes a file of this folder (`unlinkat(2)`).
  package func remove(_ name: String) throws(ErrorNumber) {
    _ = try retrying { unlinkat(number, name.systemText, 0) }
  }

  /// The names in this folder that are wanted, as ``entries(atMost:where:)`` lists them.
  package func names(
    atMost most: Int = .max,
    where isIncluded: (String) -> Bool = { _ in true }
  ) throws(ErrorNumber) -> [String] {
    try entries(atMost: most, where: isIncluded).map(\.name)
  }

  /// The entries of this folder that are wanted, without `.` and `..`, in no order, and no more than `most`.
  package func entries(
    atMost most: Int = .max,
    where isIncluded: (String) -> Bool = { _ in true }
  ) throws(ErrorNumber) -> [(name: String, isFolder: Bool)] {
    // Opened anew, because a duplicated descriptor would share its position.
    let copy = try retrying { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = fdopendir(copy) else {
      let error = ErrorNumber.last
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    var entries: [(name: String, isFolder: Bool)] = []
    while entries.count < most, let entry = readdir(stream) {
      // The record ends with its name, so `d_name` must not be copied whole.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = String(systemText: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
      if name != ".", name != "..", isIncluded(name) { entries.append((name, entry.pointee.d_type == DT_DIR)) }
    }
    return entries
  }

  /// What the open file is (`fstat(2)`).
  package func kind() throws(ErrorNumber) -> Kind {
    var facts = stat()
    _ = try retrying { fstat(number, &facts) }
    return Self.kind(of: facts)
  }

  /// What a path leads to, links not followed (`lstat(2)`) or followed (`stat(2)`); nil where there is nothing.
  package static func kind(of path: String, followingLinks: Bool) throws(ErrorNumber) -> Kind? {
    var facts = stat()
    do {
      _ = try retrying { followingLinks ? stat(path.systemText, &facts) : lstat(path.systemText, &facts) }
    } catch let error where error.code == ENOENT {
      return nil
    }
    return kind(of: facts)
  }

  private static func kind(of facts: stat) -> Kind {
    switch facts.st_mode & S_IFMT {
    case S_IFREG: .regular(size: facts.st_size)
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .other
    }
  }

  /// What this folder has under `name`, links not followed (`fstatat(2)`); nil where there is nothing.
  package func kind(of name: String) throws(ErrorNumber) -> Kind? {
    var facts = stat()
    do {
      _ = try retrying { fstatat(number, name.systemText, &facts, AT_SYMLINK_NOFOLLOW) }
    } catch let error where error.code == ENOENT {
      return nil
    }
    return Self.kind(of: facts)
  }

  /// Reads up to the end, but no more than `most` bytes; fastest where about `size` bytes are there.
  package func read(atMost most: Int, expecting size: Int = 4096) throws(ErrorNumber) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < most {
      let chunk = try readChunk(min(most - bytes.count, max(size + 1, 4096)))
      if chunk.isEmpty { break }
      if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
    }
    return bytes
  }

  /// Reads once, up to `size` bytes; empty at the end.
  package func readChunk(_ size: Int) throws(ErrorNumber) -> [UInt8] {
    var failure: ErrorNumber?
    let chunk = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      do throws(ErrorNumber) {
        count = try retrying { Glibc.read(number, buffer.baseAddress, size) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return chunk
  }

  /// Writes all bytes, in as many calls as it takes.
  package func writeAll(_ bytes: [UInt8]) throws(ErrorNumber) {
    var written = 0
    while written < bytes.count {
      let count = try retrying {
        bytes.withUnsafeBytes { all in
          let rest = UnsafeRawBufferPointer(rebasing: all[written...])
          return Glibc.write(number, rest.baseAddress, rest.count)
        }
      }
      // A regular file takes something or fails; zero would repeat for ever.
      guard count > 0 else { throw ErrorNumber(EIO) }
      written += count
    }
  }

  /// Waits until the file is on the disk (`fsync(2)`).
  package func synchronize() throws(ErrorNumber) {
    _ = try retrying { fsync(number) }
  }

  /// Takes the lock of the whole file (`flock(2)`), which ends with ``unlock()``, or with the descriptor and all its
  /// copies: a child that was just forked has one until it executes its program.
  ///
  /// - Returns: false where another open file has it.
  package func tryLock() throws(ErrorNumber) -> Bool {
    do {
      _ = try retrying { flock(number, LOCK_EX | LOCK_NB) }
      return true
    } catch let error where error.code == EWOULDBLOCK {
      return false
    }
  }

  /// Takes the lock as ``tryLock()`` does; true also on a file system without locks, where it keeps nobody out.
  package func tryLockIfSupported() throws(ErrorNumber) -> Bool {
    do {
      return try tryLock()
    } catch let error where [ENOLCK, ENOSYS, EOPNOTSUPP].contains(error.code) {
      return true
    }
  }

  package func unlock() {
    _ = flock(number, LOCK_UN)
  }
}
