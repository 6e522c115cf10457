#if LaunchReason && os(Linux)

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import LaunchRecords

/// Keeps the record in a small mapped file, so that a change is a plain store, which survives any kill.
///
/// The file is `FOLDER/INSTANCE.launch`, 4096 bytes, readable by its user only, and locked with flock(2) while its process
/// is alive. An instance that starts meanwhile, as in a rolling restart, uses `FOLDER/INSTANCE+1.launch`, and so on; the
/// next start takes over the file of the run that was started last, or any free one while that run is alive, and clears
/// those of the other runs that have ended. See `LaunchPage` for the format.
public final class FileRunStore: PriorRunStore {
  /// The store for the program's name, in the user's state folder.
  public static let `default` = FileRunStore()

  private struct Page {
    let bytes: UnsafeMutableRawBufferPointer
    let file: CInt
    let number: UInt32
    var sequence: UInt64 = 0
    /// The order of the run that is stored next.
    var order: UInt64 = 0
    /// Whether the page contains no valid record, and must be cleared before the first store.
    var isStale = true
    /// Whether handlers store into the page, which must then stay mapped.
    var isWatched = false
  }

  private let folder: String?
  private let instance: String?
  private let lock = Lock()
  /// Protected by the lock.
  private nonisolated(unsafe) var page: Page?

  /// Selects the file; it is not accessed before the first ``load()``.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created if it is missing. By default `highwater` in the first of
  ///     `$STATE_DIRECTORY` (systemd.exec(5)), `$XDG_STATE_HOME` and `~/.local/state` that is an absolute path.
  ///   - instance: Distinguishes programs, and the workers of one, each of which then has a previous run of its own; bytes
  ///     other than letters, digits, `.`, `_` and `-` become `_`. By default the program's file name.
  public init(folder: String? = nil, instance: String? = nil) {
    self.folder = folder
    self.instance = instance
  }

  deinit {
    guard let page, !page.isWatched, !LaunchHandlers.hasForked else { return }
    Self.release(page)
  }

  /// The path of the file, which is known after ``load()`` if several instances run; nil if no folder could be determined.
  public var path: String? { path(lock.withLock { page?.number ?? 0 }) }

  private func path(_ number: UInt32) -> String? { LaunchRecordFile.path(in: folder, of: instance, number: number) }

  /// Locks a file for this run, and returns the record of the run that was started last.
  public func load() throws -> PriorRun? {
    guard !LaunchHandlers.hasForked else { return nil }
    return try lock.withLock { try claim() }
  }

  /// Stores the record; `power` calls fdatasync(2), which takes milliseconds on a disk.
  public func save(_ run: PriorRun, durability: LaunchReason.Durability) throws {
    guard !LaunchHandlers.hasForked else { return }
    try lock.withLock {
      var mapped = try claimedPage()
      if mapped.isStale { mapped.bytes.initializeMemory(as: UInt8.self, repeating: 0) }
      mapped.isStale = false
      mapped.sequence &+= 1
      page = mapped
      var record = run.record
      record.order = mapped.order
      LaunchPage.store(record, sequence: mapped.sequence, in: mapped.bytes)
      if durability == .power, fdatasync(mapped.file) != 0 { throw failure("fdatasync", mapped.number) }
    }
  }

  /// Passes on the record of each run that ended and was started before this one, and clears those that were reported.
  ///
  /// Each is locked meanwhile: of starts at the same time one reports it.
  ///
  /// - Parameter report: Returns whether the run was reported.
  func clearEnded(_ report: (LaunchRecord) -> Bool) {
    lock.withLock {
      guard let own = page else { return }
      func clear(_ other: Page) {
        guard case .record(let record) = Self.content(of: other.bytes), record.order < own.order else { return }
        if report(record) { LaunchPage.clear(other.bytes) }
      }
      clear(own)
      _ = try? forEachFile { slot in
        guard case .free(let other, _) = slot else { return }
        clear(other)
        Self.unlock(other)
      }
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

// MARK: - The previous run

extension FileRunStore {
  /// One of the files of the instance.
  private enum Slot {
    case missing
    /// Another process has locked it; its run has this order.
    case held(order: UInt64)
    case free(Page, Content)
  }

  private enum Content {
    case record(LaunchRecord)
    /// Its run ended before it could store a record.
    case none
    case unreadable(RunStoreError)

    /// A run whose record is damaged may be the one that was started last.
    var order: UInt64 {
      switch self {
      case .record(let record): record.order
      case .none: 0
      case .unreadable: .max
      }
    }
  }

  /// That of a run that has not stored its record yet, which was started later than any other.
  private static let unknownOrder = UInt64.max - 1

  /// More files are not looked at.
  private static let mostFiles: UInt32 = 1000

  private func claimedPage() throws -> Page {
    if page == nil {
      do { _ = try claim() } catch  where page != nil {}
    }
    guard let page else { throw RunStoreError.noFolder }
    return page
  }

  /// Locks the file of the run that was started last; if that run is alive, any other.
  private func claim() throws -> PriorRun? {
    if let page { return try Self.run(in: Self.content(of: page.bytes)) }
    var newestHeld: UInt64?
    var last: UInt64 = 0
    // Neither a tuple of both nor an optional of it: the runtime would make such a type from its name, with code that a
    // small program does not use otherwise.
    var found: Page?
    var content = Content.none
    let missing = try forEachFile { slot in
      switch slot {
      case .missing: break
      case .held(let order):
        newestHeld = max(newestHeld ?? 0, order)
        if order < Self.unknownOrder { last = max(last, order) }
      case .free(let page, let other):
        if other.order < Self.unknownOrder { last = max(last, other.order) }
        if found != nil, content.order >= other.order { return Self.unlock(page) }
        if let found { Self.unlock(found) }
        (found, content) = (page, other)
      }
    }
    var claimed = if let found { found } else { try create(missing) }
    claimed.order = last &+ 1
    if case .record = content { claimed.isStale = false }
    if let sequence = Self.sequence(in: claimed.bytes) { claimed.sequence = sequence }
    page = claimed
    if let newestHeld, newestHeld >= content.order { throw RunStoreError.heldByAnotherProcess }
    return try Self.run(in: content)
  }

  private static func run(in content: Content) throws(RunStoreError) -> PriorRun? {
    switch content {
    case .record(let record): PriorRun(record)
    case .none: nil
    case .unreadable(let error): throw error
    }
  }

  private static func content(of bytes: UnsafeMutableRawBufferPointer) -> Content {
    var record = LaunchRecord()
    do throws(LaunchPageError) {
      return try LaunchPage.read(UnsafeRawBufferPointer(bytes), into: &record) == nil ? .none : .record(record)
    } catch {
      switch error {
      case .corrupt: return .unreadable(.corrupt)
      case .unknownVersion(let version): return .unreadable(.unknownVersion(version))
      }
    }
  }

  private static func sequence(in bytes: UnsafeMutableRawBufferPointer) -> UInt64? {
    var record = LaunchRecord()
    return (try? LaunchPage.read(UnsafeRawBufferPointer(bytes), into: &record)) ?? nil
  }
}

// MARK: - The files

extension FileRunStore {
  /// Calls a function with each file of the instance, up to the first that is missing.
  ///
  /// - Returns: The number of the missing file.
  /// - Throws: If the first file cannot be used; others are skipped then.
  private func forEachFile(_ body: (Slot) -> Void) throws(RunStoreError) -> UInt32 {
    for number in 0..<Self.mostFiles {
      do throws(RunStoreError) {
        let slot = try slot(number)
        if case .missing = slot { return number }
        body(slot)
      } catch {
        if number == 0 { throw error }
      }
    }
    return Self.mostFiles
  }

  /// The state of a file, which is locked if it is free.
  private func slot(_ number: UInt32) throws(RunStoreError) -> Slot {
    guard let path = path(number) else { throw .noFolder }
    let file = LaunchRecordFile.open(path)
    if file < 0 && (errno == ENOENT || errno == ENOTDIR) { return .missing }
    guard file >= 0 else { throw failure("open", number) }
    do throws(RunStoreError) {
      let isFree = flock(file, LOCK_EX | LOCK_NB) == 0
      guard isFree || errno == EWOULDBLOCK else { throw failure("flock", number) }
      let size = try size(of: file, number)
      guard isFree else { return .held(order: Self.order(in: file)) }
      let page = try map(file, number)
      // An empty or longer file was damaged by others.
      guard size > 0, size <= LaunchPage.size else { return .free(page, .unreadable(.corrupt)) }
      return .free(page, Self.content(of: page.bytes))
    } catch {
      close(file)
      throw error
    }
  }

  private func create(_ number: UInt32) throws(RunStoreError) -> Page {
    guard let path = path(number) else { throw .noFolder }
    if let failure = LaunchRecordFile.createFolders(of: path) {
      throw .system(call: "mkdir", path: failure.folder, errno: failure.code)
    }
    let file = LaunchRecordFile.create(path)
    if file < 0 && errno == EEXIST && number + 1 < Self.mostFiles { return try create(number + 1) }
    guard file >= 0 else { throw failure("open", number) }
    do throws(RunStoreError) {
      return try map(file, number)
    } catch {
      close(file)
      throw error
    }
  }

  /// The size of a file that may be overwritten; a longer file than a record must begin like one.
  private func size(of file: CInt, _ number: UInt32) throws(RunStoreError) -> Int {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure("fstat", number) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    guard isRegular, status.st_size <= LaunchPage.size || Self.isPage(file) else {
      throw .foreign(path: path(number) ?? "")
    }
    return Int(status.st_size)
  }

  private func map(_ file: CInt, _ number: UInt32) throws(RunStoreError) -> Page {
    // Without allocated blocks a store into the mapping would raise SIGBUS when the disk is full (mmap(2)).
    let code = posix_fallocate(file, 0, off_t(LaunchPage.size))
    guard code == 0 else { throw failure("posix_fallocate", number, code) }
    guard ftruncate(file, off_t(LaunchPage.size)) == 0 else { throw failure("ftruncate", number) }
    let start = mmap(nil, LaunchPage.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let start, start != MAP_FAILED else { throw failure("mmap", number) }
    return Page(bytes: UnsafeMutableRawBufferPointer(start: start, count: LaunchPage.size), file: file, number: number)
  }

  /// Releases a file that this run does not use, at once: a child that is being started may have inherited its lock.
  private static func unlock(_ page: Page) {
    flock(page.file, LOCK_UN)
    release(page)
  }

  private static func release(_ page: Page) {
    munmap(page.bytes.baseAddress, page.bytes.count)
    close(page.file)
  }

  private static func isPage(_ file: CInt) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { bytes in
      pread(file, bytes.baseAddress, 8, 0) == 8 && LaunchPage.isPage(UnsafeRawBufferPointer(bytes))
    }
  }

  /// The order of a run that is alive.
  private static func order(in file: CInt) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: LaunchPage.size, alignment: 8) { bytes in
      let count = pread(file, bytes.baseAddress, bytes.count, 0)
      guard count == bytes.count, case .record(let record) = content(of: bytes) else { return unknownOrder }
      return record.order
    }
  }

  private func failure(_ call: String, _ number: UInt32, _ code: CInt = errno) -> RunStoreError {
    .system(call: call, path: path(number) ?? "", errno: code)
  }
}

#endif
