#if LaunchReason

import Glibc
import LaunchRecords

/// Keeps the record in a small mapped file, so that a change is a plain store, which survives any kill.
///
/// One file for each instance: `FOLDER/INSTANCE.launch`, 4096 bytes, readable by its user only, and locked with flock(2)
/// while its process is alive. See `LaunchPage` for its format.
public final class FileRunStore: PriorRunStore {
  /// The store for the program's name, in the user's state folder.
  public static let `default` = FileRunStore()

  /// The path of the file; nil if no folder could be determined.
  public let path: String?

  private struct Page {
    let bytes: UnsafeMutableRawBufferPointer
    let file: CInt
    var sequence: UInt64 = 0
    /// Whether the page contains no valid record, and must be cleared before the first store.
    var isStale = true
    /// Whether handlers store into the page, which must then stay mapped.
    var isWatched = false
  }

  private let lock = Lock()
  /// Protected by the lock.
  private nonisolated(unsafe) var page: Page?

  /// Selects the file; it is not accessed before the first ``load()``.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created if it is missing. By default `highwater` in the first of
  ///     `$STATE_DIRECTORY` (systemd.exec(5)), `$XDG_STATE_HOME` and `~/.local/state`.
  ///   - instance: Distinguishes programs, and concurrent instances of one; bytes other than letters, digits, `.`, `_`
  ///     and `-` become `_`. By default the program's file name.
  public init(folder: String? = nil, instance: String? = nil) {
    path = LaunchRecordFile.path(in: folder, of: instance)
  }

  deinit {
    guard let page, !page.isWatched, !LaunchHandlers.hasForked else { return }
    munmap(page.bytes.baseAddress, page.bytes.count)
    close(page.file)
  }

  /// Locks the file for this run and returns the record of the previous run.
  public func load() throws -> PriorRun? {
    guard !LaunchHandlers.hasForked else { return nil }
    return try lock.withLock {
      let mapped = try page ?? open()
      page = mapped
      do throws(LaunchPageError) {
        var record = LaunchRecord()
        let bytes = UnsafeRawBufferPointer(mapped.bytes)
        guard let sequence = try LaunchPage.read(bytes, into: &record) else { return nil }
        page?.sequence = sequence
        page?.isStale = false
        return PriorRun(record)
      } catch .corrupt {
        throw RunStoreError.corrupt
      } catch .unknownVersion(let version) {
        throw RunStoreError.unknownVersion(version)
      }
    }
  }

  /// Stores the record; ``Durability/power`` calls fdatasync(2), which takes milliseconds on a disk.
  public func save(_ run: PriorRun, durability: Durability) throws {
    guard !LaunchHandlers.hasForked else { return }
    try lock.withLock {
      var mapped = try page ?? open()
      if mapped.isStale { mapped.bytes.initializeMemory(as: UInt8.self, repeating: 0) }
      mapped.isStale = false
      mapped.sequence &+= 1
      page = mapped
      LaunchPage.store(run.record, sequence: mapped.sequence, in: mapped.bytes)
      if durability == .power, fdatasync(mapped.file) != 0 { throw failure("fdatasync") }
    }
  }

  /// Lets handlers mark the end of the run with this tag.
  func watch(tag: UInt32) {
    lock.withLock {
      guard let mapped = page, !mapped.isWatched else { return }
      page?.isWatched = true
      LaunchHandlers.watch(mapped.bytes, file: mapped.file, tag: tag)
    }
  }
}

// MARK: - The file

extension FileRunStore {
  private func open() throws(RunStoreError) -> Page {
    guard let path else { throw .noFolder }
    if let failure = LaunchRecordFile.createFolders(of: path) {
      throw .system(call: "mkdir", path: failure.folder, errno: failure.code)
    }
    let file = LaunchRecordFile.open(path)
    guard file >= 0 else { throw failure("open") }
    do throws(RunStoreError) {
      return try map(file)
    } catch {
      close(file)
      throw error
    }
  }

  private func map(_ file: CInt) throws(RunStoreError) -> Page {
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK ? .heldByAnotherProcess : failure("flock")
    }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= LaunchPage.size else { throw .corrupt }
    // Without allocated blocks a store into the mapping would raise SIGBUS when the disk is full (mmap(2)).
    let code = posix_fallocate(file, 0, off_t(LaunchPage.size))
    guard code == 0 else { throw failure("posix_fallocate", code) }
    let start = mmap(nil, LaunchPage.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let start, start != MAP_FAILED else { throw failure("mmap") }
    return Page(bytes: UnsafeMutableRawBufferPointer(start: start, count: LaunchPage.size), file: file)
  }

  private func failure(_ call: String, _ code: CInt = errno) -> RunStoreError {
    .system(call: call, path: path ?? "", errno: code)
  }
}

#endif
