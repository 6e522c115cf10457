import GateCore
import Glibc
import LinuxSystem

/// Looks for the files in memory that a process tree has written: those of tmpfs, and those without a name, as
/// memfd_create(2) makes them and unlink(2) leaves them.
///
/// While no process maps them, no process's resident memory has them; the memory cgroup of the tree counts them.
struct MemoryFiles {
  /// The folders under `/proc` of the processes.
  let processes: [String]
  /// When the tree was started, in nanoseconds since 1970: files that have not changed since are somebody else's.
  let start: Int64
  /// In bytes, by what a memory cgroup counts: a larger file is somebody else's.
  ///
  /// Without a cgroup (nil) only files of the first process's user count, and of those only what it has not mapped.
  let most: Int64?

  /// The user of the first process, where only that user's files count.
  private let owner: uid_t?

  init(processes: [String], start: Int64, most: Int64?) {
    (self.processes, self.start, self.most) = (processes, start, most)
    var facts = stat()
    owner = most == nil && stat(processes.first ?? "", &facts) == 0 ? facts.st_uid : nil
  }

  /// How many entries of folders, and how many open files of each process, are looked at: 2,000 take about 10 ms.
  private static let mostEntries = 2000
  private static let mostProcesses = 64
  private static let largestDepth = 8
  /// Smaller files are not worth a line.
  private static let smallest: Int64 = 65_536

  private struct File: Hashable {
    let device: UInt
    let number: UInt

    init(_ facts: stat) {
      (device, number) = (UInt(facts.st_dev), UInt(facts.st_ino))
    }
  }

  /// The largest of them, by their paths as the first process sees them; those that a process has open come first, since
  /// any program may have written the others.
  func largest() -> [Composition.Library] {
    var found: [File: Composition.Library] = [:]
    let mounts = mounts()
    let open = addOpen(on: Set(mounts.map(\.device)), to: &found)
    var left = Self.mostEntries
    for mount in mounts { addNamed(of: mount, atMost: &left, to: &found) }
    if most == nil, !found.isEmpty { leaveOutMapped(of: &found) }
    let sorted = found.sorted { one, other in
      let (isOpen, otherIsOpen) = (open.contains(one.key), open.contains(other.key))
      if isOpen != otherIsOpen { return isOpen }
      return (other.value.resident, one.value.name) < (one.value.resident, other.value.name)
    }
    return sorted.prefix(Composition.storedLibraries).map(\.value)
  }

  private func leaveOutMapped(of found: inout [File: Composition.Library]) {
    let maps = SmallFile.text(at: "\(processes.first ?? "")/maps", atMost: 1 << 22) ?? ""
    let paths = maps.split(separator: "\n").compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    let mapped = Set(paths.map(MappingSums.nameOfShared))
    found = found.filter { _, file in !mapped.contains(file.name) }
  }

  private struct Mount {
    let point: String
    let device: dev_t
  }

  /// The path of a file as it is for this process, through the root of the first process.
  private func outside(_ path: String) -> String { "\(processes.first ?? "")/root\(path)" }

  private func mounts() -> [Mount] {
    MountLine.all(ofProcessIn: processes.first ?? "").filter { $0.fileSystem == "tmpfs" }.compactMap { line in
      var facts = stat()
      guard stat(outside(line.point), &facts) == 0 else { return nil }
      return Mount(point: line.point == "/" ? "" : line.point, device: facts.st_dev)
    }
  }

  private func addNamed(of mount: Mount, atMost left: inout Int, to found: inout [File: Composition.Library]) {
    var folders = [(path: mount.point, depth: 0)]
    while let folder = folders.popLast(), left > 0 {
      for entry in SmallFolder.entries(of: outside("\(folder.path)/")).prefix(left) {
        left -= 1
        let path = "\(folder.path)/\(entry.name)"
        var facts = stat()
        guard lstat(outside(path), &facts) == 0, facts.st_dev == mount.device else { continue }
        if entry.isFolder, folder.depth < Self.largestDepth { folders.append((path, folder.depth + 1)) }
        add(facts, named: path, to: &found)
      }
    }
  }

  /// Adds the open files that no folder has; returns all open ones.
  private func addOpen(on devices: Set<dev_t>, to found: inout [File: Composition.Library]) -> Set<File> {
    var open: Set<File> = []
    for process in processes.prefix(Self.mostProcesses) {
      for entry in SmallFolder.entries(of: "\(process)/fd").prefix(Self.mostEntries) {
        let link = "\(process)/fd/\(entry.name)"
        var facts = stat()
        guard stat(link, &facts) == 0, isLarge(facts), let path = textOfLink(link),
          path.hasPrefix("/memfd:") || devices.contains(facts.st_dev)
        else { continue }
        open.insert(File(facts))
        if facts.st_nlink == 0 { add(facts, named: MappingSums.nameOfShared(path), to: &found) }
      }
    }
    return open
  }

  private func add(_ facts: stat, named name: String, to found: inout [File: Composition.Library]) {
    guard isLarge(facts) else { return }
    found[File(facts)] = Composition.Library(name: name, resident: Bytes(Self.size(facts)))
  }

  /// Whether it is a file of the tree's that has memory (`st_blocks`, units of 512 bytes; stat(3type)).
  private func isLarge(_ facts: stat) -> Bool {
    guard facts.st_mode & S_IFMT == S_IFREG, Self.size(facts) >= Self.smallest, Self.size(facts) <= most ?? .max,
      most != nil || facts.st_uid == owner
    else { return false }
    return Int64(facts.st_ctim.tv_sec) * 1_000_000_000 + Int64(facts.st_ctim.tv_nsec) >= start
  }

  private static func size(_ facts: stat) -> Int64 { Int64(facts.st_blocks) * 512 }
}
