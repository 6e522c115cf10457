import Glibc

/// The size of a page of memory on this machine.
enum PageSize {
  static let bytes = Int(sysconf(Int32(_SC_PAGESIZE)))
}
