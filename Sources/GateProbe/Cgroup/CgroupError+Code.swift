import GateCore
import Glibc

extension CgroupError {
  init(code: Int32, folder: String) {
    switch code {
    case LinuxCalls.Code.readOnly: self = .readOnly(folder: folder)
    case LinuxCalls.Code.accessDenied, LinuxCalls.Code.notPermitted:
      // The kernel tells other users than root only that they lack the permission.
      self = Self.isReadOnly(folder) ? .readOnly(folder: folder) : .notPermitted(folder: folder)
    case LinuxCalls.Code.busy: self = .internalProcesses(folder: folder)
    default: self = .failed(folder: folder, code: code)
    }
  }

  private static func isReadOnly(_ folder: String) -> Bool {
    var status = statvfs()
    return statvfs(folder, &status) == 0 && Int(status.f_flag) & Int(ST_RDONLY) != 0
  }
}
