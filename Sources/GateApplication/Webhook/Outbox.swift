import FoundationEssentials
import GateCore
import LinuxSystem

private import Glibc

/// The folder in which messages wait for a later run, one file each.
///
/// All files are accessed relative to the folder's descriptor, so that the folder cannot be replaced in between. A full
/// outbox accepts no new message rather than dropping an old one.
final class Outbox {
  /// A file of the outbox that contains a message.
  struct Entry: Equatable {
    let name: String
    let message: QueuedMessage

    /// Whether an earlier run has reported that it belongs to no webhook.
    var isReported: Bool { name.hasSuffix(Outbox.reportedSuffix) }

    /// Whether git tracks the file, so that a commit may have put it there.
    var isTracked = false
    /// Whether a run has sent this message from the outbox already.
    var wasSent = false
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
  private static let reportedSuffix = ".unclaimed.json"
  private static let rejectedSuffix = ".rejected"
  /// Of an empty file named by the ID of a message that was sent from the outbox.
  private static let sentSuffix = ".sent"
  /// The most names that are read, so that a folder with countless files does not exhaust the memory.
  private static let maximumNames = 10_000

  private let folder: Descriptor

  /// Opens the folder, which must exist and must not be a symbolic link, and makes it private to the user.
  init(folder path: String) throws(OutboxError) {
    do throws(ErrorNumber) {
      folder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } catch {
      throw .cannotOpen(folder: path, errno: error.code)
    }
    // Fails if another user owns the folder; our files in it are still private.
    _ = fchmod(folder.number, 0o700)
  }

  /// Opens the folder, and creates it if it is missing.
  convenience init(creating path: String) throws(OutboxError) {
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    if !parent.isEmpty {
      // An error also makes the next call fail, which reports it.
      for end in parent.indices where parent[end] == "/" { mkdir(parent[..<end].description.systemText, 0o777) }
      mkdir(parent.systemText, 0o777)
    }
    guard mkdir(path.systemText, 0o700) == 0 || errno == EEXIST else { throw .cannotCreate(folder: path, errno: errno) }
    try self.init(folder: path)
  }

  deinit {
    folder.unlock()
  }

  /// Locks the outbox for this process until this object is released; false if another process has locked it.
  func lock() -> Bool {
    (try? folder.tryLock()) == true
  }

  /// Reads all messages, and renames files that are not messages to `NAME.broken`; `tracked` finds the files that git tracks.
  func readContents(tracked: ([String]) -> Set<String>) -> Contents {
    var contents = Contents()
    let temporary = Descriptor.temporaryNames
    remove(olderThanDays: 1) { $0.hasPrefix(temporary.prefix) && $0.hasSuffix(temporary.suffix) }
    remove(olderThanDays: 30) { $0.hasSuffix(Self.rejectedSuffix) || $0.hasSuffix(Self.sentSuffix) }
    let names = messageNames().sorted().prefix(Self.capacity)
    let tracked = tracked(Array(names))
    for name in names {
      switch read(name) {
      case .message(let message):
        contents.entries.append(
          Entry(
            name: name, message: message, isTracked: tracked.contains(name),
            wasSent: (try? folder.kind(of: message.deliveryID + Self.sentSuffix)) ?? nil != nil))
      case .missing: break
      case .malformed:
        if markBroken(name) { contents.malformed.append(name) }
      }
    }
    return contents
  }

  /// Stores a message durably: it survives a crash of the machine once this returns.
  ///
  /// - Returns: The name of its file.
  func add(_ message: OutgoingMessage, of project: String, at time: Date) throws(OutboxError) -> String {
    let message = QueuedMessage(message, of: project, createdAt: time)
    guard message.hasValidNames else { throw .invalidName }
    guard let bytes = try? message.encoded(), bytes.count <= Self.maximumFileSize else { throw .messageTooLarge }
    guard messageNames().count < Self.capacity else { throw .full(count: Self.capacity) }
    let name = "\(Int64(time.timeIntervalSince1970 * 1000))-\(message.deliveryID)\(Self.suffix)"
    let failure = { (error: ErrorNumber) in OutboxError.cannotWrite(errno: error.code) }
    try folder.replaceFile(name, mode: 0o600, orThrow: failure) { sink throws(OutboxError) in try sink(bytes) }
    return name
  }

  func remove(_ name: String) {
    try? folder.remove(name)
  }

  /// Removes a message that was sent, and remembers it as long as a copy of it could be sent again.
  func markSent(_ entry: Entry) {
    _ = try? folder.open(entry.message.deliveryID + Self.sentSuffix, O_WRONLY | O_CREAT, mode: 0o600)
    remove(entry.name)
  }

  /// Records in the file name that a run has reported this message.
  func markReported(_ entry: Entry) {
    let name = entry.name.dropLast(Self.suffix.utf8.count) + Self.reportedSuffix
    try? folder.rename(entry.name, to: String(name))
  }

  /// Renames a message so that no run sends it again.
  ///
  /// - Returns: The new name; nil if it could not be renamed.
  func setAside(_ name: String) -> String? {
    let rejected = name + Self.rejectedSuffix
    return (try? folder.rename(name, to: rejected)).map { rejected }
  }

  /// Renames a file that no run of this user has written, so that no run reads it again; false if it cannot be renamed.
  @discardableResult
  func markBroken(_ name: String) -> Bool {
    (try? folder.rename(name, to: name + ".broken")) != nil
  }

  private func messageNames() -> [String] {
    names { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }
  }

  /// Removes temporary files, which only runs that were killed while writing leave behind, and rejected messages.
  private func remove(olderThanDays days: Int, where isIncluded: (String) -> Bool) {
    let limit = Int(Date.now.inFileYears.timeIntervalSince1970) - days * 24 * 3600
    for name in names(where: isIncluded) {
      var status = stat()
      guard fstatat(folder.number, name.systemText, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mtim.tv_sec < limit
      else {
        continue
      }
      remove(name)
    }
  }

  private func names(where isIncluded: (String) -> Bool) -> [String] {
    (try? folder.names(atMost: Self.maximumNames, where: isIncluded)) ?? []
  }

  private enum Content {
    case message(QueuedMessage), malformed, missing
  }

  /// Reads a file that anyone may have created: does not follow a link, does not block on a pipe, and reads no more
  /// than the maximum size.
  private func read(_ name: String) -> Content {
    do throws(ErrorNumber) {
      let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
      guard case .regular(let size) = try file.kind(), size <= Self.maximumFileSize else { return .malformed }
      return QueuedMessage(parsing: try file.read(atMost: size, expecting: size)).map(Content.message) ?? .malformed
    } catch {
      return [ELOOP, ENXIO].contains(error.code) ? .malformed : .missing
    }
  }
}
