import FoundationEssentials
import GateCore

private import Glibc

/// The folder in which messages wait for a later run, one file each.
///
/// Everything goes through the folder's own descriptor, so that nobody can put another one in its place meanwhile. A
/// full outbox takes nothing more: what was promised to be kept is not thrown away for what is new.
final class Outbox {
  /// A file of the outbox that holds a letter.
  struct Entry: Equatable {
    let name: String
    let letter: Letter

    /// Whether a run has told already that it belongs to no webhook.
    var isKnownUnclaimed: Bool { name.hasSuffix(Outbox.unclaimedEnding) }
  }

  /// What lies in the outbox.
  struct Stock: Equatable {
    /// Oldest first.
    var entries: [Entry] = []
    /// Names of files that hold no letter, and were set aside.
    var broken: [String] = []
  }

  static let capacity = 1000
  /// The largest file that is read or written.
  static let largestFile = 8 << 20
  private static let ending = ".json"
  private static let draftEnding = ".tmp"
  private static let unclaimedEnding = ".unclaimed.json"
  /// The most names that are looked at, so that a folder full of rubbish does not fill the memory.
  private static let mostNames = 10_000

  private let folder: CInt

  /// Opens the folder, which must exist and must not be a symbolic link, and closes it to other users.
  init(folder path: String) throws(OutboxError) {
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { throw .system(.noFolder, "the outbox `\(path)` cannot be opened") }
    // Where the folder is another user's, its letters are still readable by us alone.
    _ = fchmod(folder, 0o700)
  }

  /// Opens the folder, and makes it where there is none.
  convenience init(making path: String) throws(OutboxError) {
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    if !parent.isEmpty {
      // What goes wrong here, the next call says as well.
      try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .system(.noFolder, "the outbox `\(path)` cannot be made")
    }
    try self.init(folder: path)
  }

  deinit {
    close(folder)
  }

  /// Claims the letters of the outbox for this process, until the end of this value; false where another has them.
  func claim() -> Bool {
    flock(folder, LOCK_EX | LOCK_NB) == 0
  }

  /// Reads all letters, and sets aside what is none as `NAME.broken`.
  func takeStock() -> Stock {
    var stock = Stock()
    removeOldDrafts()
    for name in letterNames().sorted().prefix(Self.capacity) {
      switch read(name) {
      case .letter(let letter): stock.entries.append(Entry(name: name, letter: letter))
      case .gone: break
      case .broken:
        if renameat(folder, name, folder, name + ".broken") == 0 { stock.broken.append(name) }
      }
    }
    return stock
  }

  /// Keeps a message: once this returns, it outlives a crash of the machine.
  ///
  /// - Returns: the name of its file.
  func add(_ message: OutgoingMessage, at time: Date) throws(OutboxError) -> String {
    let letter = Letter(message, createdAt: time)
    guard letter.isSound else { throw OutboxError(.badName, "its id or event is not a plain name") }
    guard let bytes = try? letter.encoded(), bytes.count <= Self.largestFile else {
      throw OutboxError(.tooLarge, "the message is larger than a file of the outbox may be")
    }
    guard letterNames().count < Self.capacity else {
      throw OutboxError(
        .full,
        "the outbox is full: \(Self.capacity) messages wait in it",
        hint: "heal or remove the webhook that does not answer, or delete the outbox's files"
      )
    }
    let name = "\(Int64(time.timeIntervalSince1970 * 1000))-\(message.deliveryID)\(Self.ending)"
    try write(bytes, to: name)
    return name
  }

  func remove(_ name: String) {
    unlinkat(folder, name, 0)
  }

  /// Notes in the name that a run has told of this letter.
  func markUnclaimed(_ entry: Entry) {
    let name = entry.name.dropLast(Self.ending.utf8.count) + Self.unclaimedEnding
    renameat(folder, entry.name, folder, String(name))
  }

  private func letterNames() -> [String] {
    names { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }
  }

  /// Removes what runs that were killed in the middle of writing have left: no draft takes a day.
  private func removeOldDrafts() {
    let yesterday = Int(Date.now.timeIntervalSince1970) - 24 * 3600
    for name in names(where: { $0.hasPrefix(".") && $0.hasSuffix(Self.draftEnding) }) {
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mtim.tv_sec < yesterday else {
        continue
      }
      unlinkat(folder, name, 0)
    }
  }

  private func names(where isWanted: (String) -> Bool) -> [String] {
    // A stream of its own: the position of a duplicated descriptor would be shared.
    let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while names.count < Self.mostNames, let entry = readdir(stream) {
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      let name = String(cString: start)
      if isWanted(name) { names.append(name) }
    }
    return names
  }

  private enum Content {
    case letter(Letter), broken, gone
  }

  /// Reads a file that anybody may have put there: it is not followed, not waited for, and not read beyond its bound.
  private func read(_ name: String) -> Content {
    let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { return errno == ELOOP || errno == ENXIO ? .broken : .gone }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return .gone }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.largestFile else { return .broken }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = Glibc.read(file, buffer.baseAddress.map { $0 + count }, size - count)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { break }
        count += got
      }
    }
    return Letter(parsing: bytes).map(Content.letter) ?? .broken
  }

  /// Writes beside, syncs and renames.
  private func write(_ bytes: [UInt8], to name: String) throws(OutboxError) {
    let draft = ".\(name)\(Self.draftEnding)"
    let file = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(.cannotWrite, "a file of the outbox cannot be made") }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    let isSafe = written == bytes.count && fsync(file) == 0
    let fault = errno
    close(file)
    guard isSafe, renameat(folder, draft, folder, name) == 0 else {
      if !isSafe { errno = fault }
      let error = OutboxError.system(.cannotWrite, "a file of the outbox cannot be written")
      unlinkat(folder, draft, 0)
      throw error
    }
    fsync(folder)
  }
}
