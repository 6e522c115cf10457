import GateCore
import Glibc

/// The limits of this process (getrlimit(2)).
enum ResourceLimit {
  /// How many descriptors it may have open.
  static var descriptors: Int {
    Int(clamping: current(RLIMIT_NOFILE))
  }

  /// How many processes and threads its user may have; nil for any number.
  static var processes: Int? {
    Int(exactly: current(__RLIMIT_NPROC))
  }

  /// The largest file that it may write; nil for any size.
  static var fileSize: Bytes? {
    Int64(exactly: current(RLIMIT_FSIZE)).map(Bytes.init)
  }

  private static func current(_ resource: __rlimit_resource) -> rlim_t {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return rlim_t.max }
    return limit.rlim_cur
  }
}
