import GateCore
import Glibc
import LinuxSystem

/// The runs that could not be added to the history, one file each, until a later check adds them.
///
/// The lock of the artifacts folder keeps other checks away. A run that is added twice is stored once, so a check may be
/// killed between adding a run and removing its file.
struct PendingRuns {
  let folder: String

  struct Entry {
    let name: String
    let run: RunSummary
  }

  private static let suffix = ".jsonl"
  /// The most runs that wait, and that one check adds.
  private static let (capacity, mostAtOnce) = (1000, 100)

  func add(_ run: RunSummary) throws(FileError) {
    guard names().count < Self.capacity else {
      throw FileError(
        code: .tooLarge, path: folder, problem: "contains \(Self.capacity) runs already",
        hint: "add them with `\(Tool.name) history import`, or remove them")
    }
    try SafeFile.write(RunLine.encode(run), to: "\(folder)/\(ScenarioName(run.run.id).pathComponent)\(Self.suffix)")
  }

  /// The files that a commit of the repository has put there: no check of this machine wrote these runs.
  func planted() -> [String] {
    GitQuery.tracked(names(), in: folder).sorted()
  }

  /// The oldest runs, without planted ones; a file that is not a run is renamed.
  func read(without planted: [String]) -> [Entry] {
    names().filter { !planted.contains($0) }.sorted().prefix(Self.mostAtOnce).compactMap { name in
      let path = "\(folder)/\(name)"
      let isFile = (try? Descriptor.kind(of: path, followingLinks: false)).map { $0 != .link } ?? true
      let run = isFile ? try? RunLine.decode(SafeFile.read(path, atMost: RunLine.largest), path: path, line: nil) : nil
      if run == nil { try? opened?.rename(name, to: "\(name).broken") }
      return run.map { Entry(name: name, run: $0) }
    }
  }

  func remove(_ entries: [Entry]) {
    for entry in entries { try? opened?.remove(entry.name) }
  }

  private func names() -> [String] {
    (try? opened?.names(atMost: 2 * Self.capacity) { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }) ?? []
  }

  /// The folder, unless it is missing or a symbolic link.
  private var opened: Descriptor? { try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }
}
