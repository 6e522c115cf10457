import GateCore
import Glibc

@testable import GateProbe

let ownProcess = getpid()

/// A cgroup whose folders stand, as a supervisor would have made them; removed with its last user.
final class MadeCgroup: Sendable {
  let cgroup: Cgroup

  /// What this machine lets us make.
  static let canCount = (try? CgroupSite.current.memory.get()) != nil
  static let canFreeze = (try? CgroupSite.current.freezer.get()) != nil

  init?(at site: CgroupSite = .current, limit: Bytes? = nil) {
    guard let cgroup = Cgroup(at: site, limit: limit) else { return nil }
    self.cgroup = cgroup
    for folder in cgroup.containment.folders where mkdir(folder, 0o755) != 0 { return nil }
    for setting in cgroup.containment.settings {
      do { try SmallFile.write(setting.text, to: setting.file) } catch { return nil }
    }
  }

  deinit {
    cgroup.thaw()
    cgroup.containment.remove()
  }

  /// A line of Python by which a process joins the cgroup.
  var joining: String {
    let files = cgroup.containment.folders.map { "'\($0)/cgroup.procs'" }.joined(separator: ", ")
    return "for name in [\(files)]: open(name, 'w').write('0')\n"
  }
}
