import GateCore
import Glibc
import LinuxSystem

/// What a run left behind whose runner was killed.
struct KilledRun {
  /// The run's temporary folder.
  let folder: String

  /// The file with the beginnings of the paths of the run's cgroups, one a line.
  private var record: String { "\(folder)/cgroups" }

  /// Writes down where this run may create cgroups, before it does.
  func recordCgroups() throws(SystemFailure) {
    let places = CgroupMap.ofThisProcess.hierarchies.flatMap(\.folders)
    let file = try Descriptor.file(record, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    let text = places.map { "\($0)/\(CgroupName.prefix)\n" }.joined()
    do { try file.writeAll(Array(text.utf8)) } catch { throw SystemFailure(.write, path: record, code: error.code) }
  }

  /// Kills the processes of the run, and removes its cgroups.
  ///
  /// - Returns: Whether none of its cgroups is left; the kernel keeps one while its processes are still exiting.
  func cleanUp() -> Bool {
    let containment = Containment(abandoned: cgroups())
    containment.killMembers()
    Orphans(ofRunIn: folder).kill()
    return containment.remove()
  }

  /// Whether a cgroup of the run exists.
  var hasCgroups: Bool { !cgroups().isEmpty }

  private func cgroups() -> [String] {
    (SmallFile.text(at: record) ?? "").split(separator: "\n").flatMap { beginning -> [String] in
      guard let slash = beginning.lastIndex(of: "/") else { return [] }
      let (parent, name) = (beginning[..<slash], beginning[beginning.index(after: slash)...])
      guard name.hasPrefix(CgroupName.stem) else { return [] }
      return SmallFolder.entries(of: String(parent)).filter { $0.isFolder && $0.name.hasPrefix(name) }
        .map { "\(parent)/\($0.name)" }
    }
  }
}

extension Containment {
  /// Cgroups of any version whose supervisors were killed.
  fileprivate init(abandoned folders: [String]) {
    let texts = ["cgroup.kill": "1", "cgroup.freeze": "0", "freezer.state": "THAWED"]
    let settings = folders.flatMap { folder in
      texts.map { Setting(file: "\(folder)/\($0.key)", text: $0.value) }
    }
    self.init(folders: folders, beforeKilling: settings)
  }
}
