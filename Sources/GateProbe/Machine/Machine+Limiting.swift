import GateCore
import Glibc

extension Machine {
  /// How the memory of targets can be limited here.
  static var memoryLimiting: MemoryLimiting {
    let page = Bytes(Int64(PageSize.bytes))
    var limiting = MemoryLimiting(
      page: page, batches: Bytes(CgroupMemoryReader.largestLag), largest: largestLimit ?? Bytes.largest)
    switch CgroupSite.current.memory {
    case .failure(let error): limiting.obstacle = error
    case .success(let place): limiting.swap = swapInUse() == nil ? .none : place.countsSwap ? .forbidden : .possible
    }
    return limiting
  }

  /// The machine's memory, or the lowest limit of the runner's own cgroup and its ancestors.
  private static var largestLimit: Bytes? {
    [memory, MachineState.now().limit].compactMap(\.self).min()
  }

  /// The machine's memory; nil if it is unknown.
  static var memory: Bytes? {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    return pages > 0 ? Bytes(Int64(pages) * Int64(PageSize.bytes)) : nil
  }
}
