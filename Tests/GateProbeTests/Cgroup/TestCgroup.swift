import GateCore
import Glibc

@testable import GateProbe

let ownProcess = getpid()

/// A cgroup with the folders that a supervisor would create; removed when it is deinitialized.
final class TestCgroup: Sendable {
  let cgroup: Cgroup

  /// Whether this machine permits memory cgroups.
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

  /// A line of Python that joins the cgroup.
  var joining: String {
    let files = cgroup.containment.folders.map { "'\($0)/cgroup.procs'" }.joined(separator: ", ")
    return "for name in [\(files)]: open(name, 'w').write('0')\n"
  }
}
