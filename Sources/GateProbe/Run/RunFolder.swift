import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// The temporary folder of a run: its runner and supervisors hold the folder's lock (flock(2)), and it names what has to
/// be cleaned up once none of them is left.
final class RunFolder: Sendable {
  private static let prefix = "highwater-run-"

  let path: String
  let lock: Descriptor
  private let cleaner: Cleaner?
  private let commandsCgroup = Mutex<Containment?>(nil)

  /// Creates the folder; `startingCleaner` also starts the process that cleans up if the runner is killed.
  ///
  /// Call that before any other thread is started.
  init(in parent: String, startingCleaner: Bool = false) throws(SystemFailure) {
    (path, lock, cleaner) = try Self.makeLocked(in: parent, startingCleaner: startingCleaner)
    do throws(SystemFailure) {
      // Targets may run as another user, and need the FIFO in a folder below.
      chmod(path, 0o711)
      try KilledRun(folder: path).recordCgroups()
    } catch {
      removeFolder(path)
      cleaner?.dismiss()
      throw error
    }
  }

  deinit {
    commandsCgroup.withLock { $0 }?.remove()
    // The cleaner removes cgroups that are still busy. Without one, they may be those of another folder of this process.
    if cleaner == nil || !KilledRun(folder: path).hasCgroups { removeFolder(path) }
    lock.unlock()
    cleaner?.dismiss()
  }

  /// The cgroup of setup, step and teardown commands, by which what they have started is found after SIGKILL of the
  /// supervisors; nil where none can be created.
  func cgroupOfCommands() -> Containment? {
    commandsCgroup.withLock { made in
      if made == nil, let place = try? CgroupSite.current.freezer.get() {
        let folder = "\(place.parent)/\(CgroupName.new())"
        if mkdir(folder, 0o755) == 0 { made = Containment(folders: [folder]) }
      }
      return made
    }
  }

  /// How often a run that cleans up may be faster; a file system that refuses what is needed refuses it each time.
  private static let attempts = 10

  /// A run that cleans up may take a new folder for that of a killed run, until it is locked; then make another one.
  private static func makeLocked(
    in parent: String, startingCleaner: Bool
  ) throws(SystemFailure) -> (String, Descriptor, Cleaner?) {
    for _ in 1...attempts {
      // As long in each run: targets copy variables with this path, and their allocations are counted to the byte.
      let number = String(UInt32.random(in: .min ... .max), radix: 36)
      let path = "\(parent)/\(prefix)\(String(repeating: "0", count: 7 - number.count))\(number)"
      // Before the folder, so that none is left if the runner is killed in between.
      let cleaner = startingCleaner ? try Cleaner(of: path) : nil
      do throws(SystemFailure) {
        if let folder = try makeLocked(path, in: parent) { return (path, folder, cleaner) }
        cleaner?.dismiss()
      } catch {
        cleaner?.dismiss()
        throw error
      }
    }
    throw SystemFailure(.mkdtemp, path: parent, code: ENOENT)
  }

  /// Makes a folder that no other user can read, and locks it; nil if another run was faster.
  private static func makeLocked(_ path: String, in parent: String) throws(SystemFailure) -> Descriptor? {
    guard mkdir(path.systemText, 0o700) == 0 else {
      if errno == EEXIST { return nil }
      throw SystemFailure(.mkdtemp, path: parent, code: errno)
    }
    do throws(SystemFailure) {
      let folder = try Descriptor.file(path, O_RDONLY | O_DIRECTORY)
      // An error means that the file system has no locks: then no run can lock or remove it.
      let isLocked = (try? folder.tryLock()) ?? true
      if isLocked, access(path, F_OK) == 0 { return folder }
      rmdir(path)
    } catch  where error.code != ENOENT {
      rmdir(path)
      throw error
    } catch {}
    return nil
  }
}

// MARK: - After killed runs

extension RunFolder {
  /// Cleans up after runs of this user whose runner, supervisors and cleaner were all killed.
  static func removeAbandoned(in parent: String) {
    for (name, _) in SmallFolder.entries(of: parent) where name.hasPrefix(prefix) {
      removeIfAbandoned("\(parent)/\(name)")
    }
  }

  /// Returns false if a process of the run still holds the lock, or a cgroup of the run is left.
  @discardableResult
  fileprivate static func removeIfAbandoned(_ path: String) -> Bool {
    var facts = stat()
    guard let lock = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else { return true }
    guard fstat(lock.number, &facts) == 0, facts.st_uid == geteuid(), (try? lock.tryLock()) == true else {
      return false
    }
    // A child that was just forked has a copy of the descriptor, and would keep the lock.
    defer { lock.unlock() }
    guard KilledRun(folder: path).cleanUp() else { return false }
    removeFolder(path)
    return true
  }
}

/// The process that cleans up if the runner is killed.
private final class Cleaner: Sendable {
  private let pid: Int32
  /// Closed when the runner ends.
  private let runner: Mutex<Descriptor?>

  /// How long the supervisors of a killed runner may take: at most 5 s each, and more on a machine under load.
  private static let supervisorsTimeout = Duration.seconds(10)

  init(of folder: String) throws(SystemFailure) {
    let (reader, writer) = try Descriptor.pipe()
    runner = Mutex(writer)
    pid = try LinuxCalls.runChild(keeping: reader.number) {
      _ = try? reader.readChunk(1)
      let deadline = MonotonicTime.after(Self.supervisorsTimeout)
      while !RunFolder.removeIfAbandoned(folder), !deadline.hasPassed { usleep(5000) }
    }
  }

  /// Ends the process, so that nothing of the run outlives the runner.
  func dismiss() {
    runner.withLock { pipe in
      // A child that was just forked may hold a copy of the pipe.
      _ = pipe?.write([0])
      pipe = nil
    }
    LinuxCalls.reap(pid)
  }
}
