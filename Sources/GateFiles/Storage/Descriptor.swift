import Glibc

/// An open file, closed when its owner goes.
///
/// All system calls of this module that take a descriptor are made here; those that a signal interrupts are repeated.
struct Descriptor: ~Copyable, Sendable {
  /// What a path or a descriptor leads to.
  enum Kind: Equatable {
    case regular(size: Int)
    case folder, link, other
  }

  private let number: Int32

  private init(number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// Opens a path (`open(2)`); it is closed in programs that this one starts.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
    Descriptor(number: try retrying { Glibc.open(path, flags | O_CLOEXEC | O_NOCTTY, mode) })
  }

  /// Opens a folder in this folder that is not a symbolic link (`openat(2)`).
  func openFolder(_ name: String) throws(SystemError) -> Descriptor {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    return Descriptor(number: try retrying { openat(number, name, flags) })
  }

  /// Removes a file of this folder (`unlinkat(2)`).
  func remove(_ name: String) throws(SystemError) {
    _ = try retrying { unlinkat(number, name, 0) }
  }

  /// The names in this folder, without `.` and `..`, in no order.
  func names() throws(SystemError) -> [String] {
    let copy = try retrying { fcntl(number, F_DUPFD_CLOEXEC, 0) }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    rewinddir(stream)
    var names: [String] = []
    while let entry = readdir(stream) {
      // The record ends with its name, so `d_name` must not be copied whole.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// What the open file is (`fstat(2)`).
  func kind() throws(SystemError) -> Kind {
    var facts = stat()
    _ = try retrying { fstat(number, &facts) }
    return Self.kind(of: facts)
  }

  /// What a path leads to, links not followed (`lstat(2)`) or followed (`stat(2)`); nil where there is nothing.
  static func kind(of path: String, followingLinks: Bool) throws(SystemError) -> Kind? {
    var facts = stat()
    do {
      _ = try retrying { followingLinks ? stat(path, &facts) : lstat(path, &facts) }
    } catch let error where error.number == ENOENT {
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

  /// Reads up to the end, but no more than `most` bytes.
  func read(atMost most: Int, expecting size: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(size, most) + 1)
    while bytes.count < most {
      let chunk = try readChunk(min(most - bytes.count, 1 << 20))
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return bytes
  }

  func readChunk(_ size: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let chunk = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      do throws(SystemError) {
        count = try retrying { Glibc.read(number, buffer.baseAddress, size) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return chunk
  }

  /// Writes all bytes, in as many calls as it takes.
  func write(_ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let count = try retrying {
        bytes.withUnsafeBytes { all in
          let rest = UnsafeRawBufferPointer(rebasing: all[written...])
          return Glibc.write(number, rest.baseAddress, rest.count)
        }
      }
      // A regular file takes something or fails; zero would repeat for ever.
      guard count > 0 else { throw SystemError(number: EIO) }
      written += count
    }
  }

  /// Waits until the file is on the disk (`fsync(2)`).
  func synchronize() throws(SystemError) {
    _ = try retrying { fsync(number) }
  }

  /// Takes the lock of the whole file (`flock(2)`), which ends with the descriptor.
  ///
  /// - Returns: false where another open file has it.
  func tryLock() throws(SystemError) -> Bool {
    do {
      _ = try retrying { flock(number, LOCK_EX | LOCK_NB) }
      return true
    } catch let error where error.number == EWOULDBLOCK {
      return false
    }
  }
}
