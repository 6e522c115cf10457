import FoundationEssentials
import GateCore

private import Glibc

/// The folder in which messages wait for a later run, one file each.
///
/// All files are accessed relative to the folder's descriptor, so that nobody can replace the folder in between. A full
/// outbox takes no new message, because those in it were promised to be delivered.
final class Outbox {
  /// A file of the outbox that contains a message.
  struct Entry: Equatable {
    let name: String
    let message: QueuedMessage

    /// Whether an earlier run has reported that it belongs to no webhook.
    var isReported: Bool { name.hasSuffix(Outbox.reportedSuffix) }
  }

  struct Contents: Equatable {
    /// Oldest first.
    var entries: [Entry] = []
    /// Names of files that are not messages, and were renamed.
    var malformed: [String] = []
  }

  static let capacity = 1000
  /// The largest file that is read or written, in bytes.
  static let maximumFileSize = 8 << 20
  private static let suffix = ".json"
  private static let temporarySuffix = ".tmp"
  private static let reportedSuffix = ".unclaimed.json"
  /// The most names that are read, so that a folder with countless files does not exhaust the memory.
  private static let maximumNames = 10_000

  private let folder: CInt

  /// Opens the folder, which must exist and must not be a symbolic link, and makes it private to the user.
  init(folder path: String) throws(OutboxError) {
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { throw .cannotOpen(folder: path, errno: errno) }
    // Fails if another user owns the folder; our files in it are still private.
    _ = fchmod(folder, 0o700)
  }

  /// Opens the folder, and creates it if it is missing.
  convenience init(creating path: String) throws(OutboxError) {
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    if !parent.isEmpty {
      // An error also makes the next call fail, which reports it.
      try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .cannotCreate(folder: path, errno: errno) }
    try self.init(folder: path)
  }

  deinit {
    close(folder)
  }

  /// Locks the outbox for this process until this object is released; false if another process has locked it.
  func lock() -> Bool {
    flock(folder, LOCK_EX | LOCK_NB) == 0
  }

  /// Reads all messages, and renames files that are not messages to `NAME.broken`.
  func readContents() -> Contents {
    var contents = Contents()
    removeOldTemporaryFiles()
    for name in messageNames().sorted().prefix(Self.capacity) {
      switch read(name) {
      case .message(let message): contents.entries.append(Entry(name: name, message: message))
      case .missing: break
      case .malformed:
        if renameat(folder, name, folder, name + ".broken") == 0 { contents.malformed.append(name) }
      }
    }
    return contents
  }

  /// Stores a message durably: it survives a crash of the machine once this returns.
  ///
  /// - Returns: The name of its file.
  func add(_ message: OutgoingMessage, at time: Date) throws(OutboxError) -> String {
    let message = QueuedMessage(message, createdAt: time)
    guard message.hasValidNames else { throw .invalidName }
    guard let bytes = try? message.encoded(), bytes.count <= Self.maximumFileSize else { throw .messageTooLarge }
    guard messageNames().count < Self.capacity else { throw .full(count: Self.capacity) }
    let name = "\(Int64(time.timeIntervalSince1970 * 1000))-\(message.deliveryID)\(Self.suffix)"
    try write(bytes, to: name)
    return name
  }

  func remove(_ name: String) {
    unlinkat(folder, name, 0)
  }

  /// Records in the file name that a run has reported this message.
  func markReported(_ entry: Entry) {
    let name = entry.name.dropLast(Self.suffix.utf8.count) + Self.reportedSuffix
    renameat(folder, entry.name, folder, String(name))
  }

  private func messageNames() -> [String] {
    names { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }
  }

  /// Removes temporary files older than a day, which only runs that were killed while writing leave behind.
  private func removeOldTemporaryFiles() {
    let yesterday = Int(Date.now.timeIntervalSince1970) - 24 * 3600
    for name in names(where: { $0.hasPrefix(".") && $0.hasSuffix(Self.temporarySuffix) }) {
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mtim.tv_sec < yesterday else {
        continue
      }
      unlinkat(folder, name, 0)
    }
  }

  private func names(where isIncluded: (String) -> Bool) -> [String] {
    // Opened anew, because a duplicated descriptor would share its position.
    let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while names.count < Self.maximumNames, let entry = readdir(stream) {
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      let name = String(cString: start)
      if isIncluded(name) { names.append(name) }
    }
    return names
  }

  private enum Content {
    case message(QueuedMessage), malformed, missing
  }

  /// Reads a file that anybody may have created: a link is not followed, a pipe is not waited for, and no more than the
  /// maximum size is read.
  private func read(_ name: String) -> Content {
    let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { return errno == ELOOP || errno == ENXIO ? .malformed : .missing }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return .missing }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.maximumFileSize else { return .malformed }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let read = Glibc.read(file, buffer.baseAddress.map { $0 + count }, size - count)
        if read < 0, errno == EINTR { continue }
        guard read > 0 else { break }
        count += read
      }
    }
    return QueuedMessage(parsing: bytes).map(Content.message) ?? .malformed
  }

  /// Writes a temporary file, syncs it and renames it.
  private func write(_ bytes: [UInt8], to name: String) throws(OutboxError) {
    let temporary = ".\(name)\(Self.temporarySuffix)"
    let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .cannotWrite(errno: errno) }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    let isSynced = written == bytes.count && fsync(file) == 0
    let code = errno
    close(file)
    guard isSynced, renameat(folder, temporary, folder, name) == 0 else {
      let error = OutboxError.cannotWrite(errno: isSynced ? errno : code)
      unlinkat(folder, temporary, 0)
      throw error
    }
    fsync(folder)
  }
}
