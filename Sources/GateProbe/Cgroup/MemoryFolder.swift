import GateCore

/// A cgroup's folder under the memory controller.
///
/// v1: `cgroup-v1/memory.rst`, v2: `cgroup-v2.rst`, both in the kernel's `Documentation/admin-guide`.
struct MemoryFolder: Sendable, Equatable {
  let path: String
  let version: CgroupVersion

  /// Nil if there is no limit, or no such file, as in the root of v2.
  var limit: Bytes? {
    guard let value = number(in: version == .v1 ? "memory.limit_in_bytes" : "memory.max") else { return nil }
    return value < Self.unlimited ? Bytes(value) : nil
  }

  /// Without a limit, v1 shows the largest whole number of pages; a real limit is far below this.
  private static let unlimited: Int64 = 1 << 62

  /// The memory charged to the cgroup and its descendants, without inactive file pages, which are easily reclaimed.
  var workingSet: Bytes? {
    let (usageFile, inactive) =
      version == .v1
      ? ("memory.usage_in_bytes", "total_inactive_file") : ("memory.current", "inactive_file")
    guard let usage = number(in: usageFile), let inactive = value(of: inactive, in: "memory.stat") else { return nil }
    return Bytes(max(0, usage - inactive))
  }

  /// The number of its processes that the OOM killer has killed, at any limit; v2 includes its descendants.
  ///
  /// Nil on kernels before 4.13.
  var kills: Int64? {
    value(of: "oom_kill", in: version == .v1 ? "memory.oom_control" : "memory.events")
  }

  /// The same without descendants; v2 has both counters since Linux 5.2.
  var ownKills: Int64? {
    version == .v1 ? kills : value(of: "oom_kill", in: "memory.events.local")
  }

  /// How often it hit its limit.
  var limitHits: Int64? {
    version == .v1 ? number(in: "memory.failcnt") : value(of: "max", in: "memory.events")
  }

  /// What was counted so far.
  var usage: CgroupUsage {
    CgroupUsage(
      peak: number(in: version == .v1 ? "memory.max_usage_in_bytes" : "memory.peak").map(Bytes.init(_:)),
      limitHits: limitHits, refaults: value(of: "workingset_refault_file", in: "memory.stat"))
  }

  /// Whether a file of v2, such as `cgroup.controllers`, lists the word.
  func lists(_ word: String, in file: String) -> Bool {
    text(of: file)?.split(whereSeparator: \.isWhitespace).contains(word[...]) ?? false
  }

  private func text(of file: String) -> String? {
    SmallFile.text(at: "\(path)/\(file)", atMost: 16_384)
  }

  private func number(in file: String) -> Int64? {
    text(of: file).flatMap { Int64($0.prefix { $0 != "\n" }) }
  }

  /// The number after a key, in a file with one key per line.
  private func value(of key: String, in file: String) -> Int64? {
    text(of: file).flatMap { FlatKeys.value(of: key, in: $0) }
  }
}

/// Flat keyed files of the kernel, with lines such as `oom_kill 3`.
enum FlatKeys {
  static func value(of key: String, in text: String) -> Int64? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(key) ") }
    return line.flatMap { Int64($0.dropFirst(key.utf8.count + 1)) }
  }
}
