import GateCore

extension CgroupError {
  init(code: Int32, folder: String) {
    switch code {
    case LinuxCalls.Code.readOnly: self = .readOnly(folder: folder)
    case LinuxCalls.Code.accessDenied, LinuxCalls.Code.notPermitted: self = .notPermitted(folder: folder)
    default: self = .failed(folder: folder, code: code)
    }
  }
}
