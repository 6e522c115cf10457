package import Glibc

extension Descriptor {
  /// Where temporary files of ``replaceFile(_:mode:_:)`` begin and end.
  package static let temporaryNames = (prefix: ".highwater-", suffix: ".tmp")

  /// `O_PATH` of open(2), which Glibc declares for GNU sources only (asm-generic/fcntl.h).
  package static let withoutReading: Int32 = 0o10_000_000

  /// Opens a folder for ``replaceFile(_:mode:_:)``, also one whose names this user may not list.
  package static func folder(_ path: String) throws(ErrorNumber) -> Descriptor {
    do {
      return try open(path, O_RDONLY | O_DIRECTORY)
    } catch let error where error.code == EACCES {
      return try open(path, withoutReading | O_DIRECTORY)
    }
  }

  /// Writes a file of this folder so that it is either the old one or the new one, whole, even if the machine stops in
  /// between.
  ///
  /// The bytes that `produce` passes to its argument go to a new file in the same folder, are synced, and take the place of
  /// the old file at once. Where it throws, the old file stays. A symbolic link in its place is replaced, not followed.
  ///
  /// - Parameters:
  ///   - name: The file's name, without a folder.
  ///   - mode: Its mode, less the umask.
  ///   - isSynced: Whether it outlasts a crash of the machine; else it may be empty then.
  ///   - failure: The error to throw for that of a system call.
  ///   - produce: Passes the content to its argument, in pieces.
  /// - Throws: what `produce` throws, or `failure`.
  package func replaceFile<Failure: Error>(
    _ name: String,
    mode: mode_t,
    isSynced: Bool = true,
    orThrow failure: @escaping (ErrorNumber) -> Failure,
    _ produce: (_ sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) -> Void
  ) throws(Failure) {
    func attempt<Value>(_ call: () throws(ErrorNumber) -> Value) throws(Failure) -> Value {
      do throws(ErrorNumber) { return try call() } catch { throw failure(error) }
    }
    let random = String(UInt64.random(in: 0 ... .max), radix: 16)
    let temporary = Self.temporaryNames.prefix + random + Self.temporaryNames.suffix
    let file = try attempt { () throws(ErrorNumber) in
      try open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    }
    do throws(Failure) {
      try produce { bytes throws(Failure) in
        try attempt { () throws(ErrorNumber) in try file.writeAll(bytes) }
      }
      try attempt { () throws(ErrorNumber) in
        if isSynced { try file.synchronize() }
        try rename(temporary, to: name)
      }
    } catch {
      try? remove(temporary)
      throw error
    }
    if isSynced { try attempt { () throws(ErrorNumber) in try synchronizeFolder() } }
  }

  /// Makes a rename last; file systems that cannot sync a folder are left alone.
  private func synchronizeFolder() throws(ErrorNumber) {
    do {
      try synchronize()
    } catch let error where [EINVAL, ENOTSUP, EACCES, EBADF].contains(error.code) {
      return
    }
  }
}
