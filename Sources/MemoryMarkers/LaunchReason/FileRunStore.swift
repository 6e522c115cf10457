#if LaunchReason

import Glibc
import LaunchRecords

/// Keeps the record in a small file that stays mapped, so that a change is a plain store, which outlives any kill.
///
/// One file for each instance: `FOLDER/INSTANCE.launch`, 4096 bytes, readable by its user only, and locked by flock(2)
/// while its process lives. See `LaunchPage` for its bytes.
public final class FileRunStore: PriorRunStore {
  /// The store of the program's name, in the user's folder for states.
  public static let `default` = FileRunStore()

  /// The file; nil where no folder could be found.
  public let path: String?

  private struct Page {
    let bytes: UnsafeMutableRawBufferPointer
    let file: CInt
    var sequence: UInt64 = 0
    /// Whether what the page holds is no record, and must not be taken for one later.
    var isStale = true
    /// Whether handlers store into the page, which then stays mapped for ever.
    var isWatched = false
  }

  private let lock = Lock()
  /// Used under the lock only.
  private nonisolated(unsafe) var page: Page?

  /// Names the file; it is not touched before the first ``load()``.
  ///
  /// - Parameters:
  ///   - folder: Where the file lies; made where it is missing. By default `highwater` in the first of
  ///     `$STATE_DIRECTORY` (systemd.exec(5)), `$XDG_STATE_HOME` and `~/.local/state`.
  ///   - instance: Tells programs, and instances of one that run at once, apart; bytes other than letters, digits,
  ///     `.`, `_` and `-` become `_`. By default the program's file name.
  public init(folder: String? = nil, instance: String? = nil) {
    path = LaunchRoom.recordPath(in: folder, of: instance)
  }

  deinit {
    guard let page, !page.isWatched, !LaunchRoom.hasForked else { return }
    munmap(page.bytes.baseAddress, page.bytes.count)
    close(page.file)
  }

  /// The record that the run before has left, after having taken the file for this run.
  public func load() throws -> PriorRun? {
    guard !LaunchRoom.hasForked else { return nil }
    return try lock.locked {
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

  /// Stores the record; ``Durability/power`` takes an fdatasync(2), milliseconds on a disk.
  public func save(_ run: PriorRun, durability: Durability) throws {
    guard !LaunchRoom.hasForked else { return }
    try lock.locked {
      var mapped = try page ?? open()
      if mapped.isStale { mapped.bytes.initializeMemory(as: UInt8.self, repeating: 0) }
      mapped.isStale = false
      mapped.sequence &+= 1
      page = mapped
      LaunchPage.store(run.record, sequence: mapped.sequence, in: mapped.bytes)
      if durability == .power, fdatasync(mapped.file) != 0 { throw failure("fdatasync") }
    }
  }

  /// Has handlers mark the end of the run, whose record has the tag.
  func watch(tag: UInt32) {
    lock.locked {
      guard let mapped = page, !mapped.isWatched else { return }
      page?.isWatched = true
      LaunchRoom.watch(mapped.bytes, file: mapped.file, tag: tag)
    }
  }
}

// MARK: - The file

extension FileRunStore {
  private func open() throws(RunStoreError) -> Page {
    guard let path else { throw .noFolder }
    if let failure = LaunchRoom.makeFolders(above: path) {
      throw .system(call: "mkdir", path: failure.folder, errno: failure.code)
    }
    let file = LaunchRoom.openRecord(path)
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
    // A mapped file without its blocks would end the program by SIGBUS when the disk is full (mmap(2)).
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
