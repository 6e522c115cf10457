#if InstanceProfiler

import CInstanceProfiler
import Glibc

// The only file that imports CInstanceProfiler; it returns values instead of structures and codes.

/// The counters of this process.
enum InstanceCounters {
  static var isRunning: Bool { hw_instances_is_running() != 0 }

  static var hook: InstanceSnapshot.Hook { hw_instances_hook() == CInt(HW_HOOK_TABLES.rawValue) ? .tables : .entry }

  /// Under Highwater the counts are written to a file that it reads.
  static func start(isExact: Bool, hook: InstanceProfiler.Hook) -> InstanceProfiler.Refusal? {
    if hw_instances_is_preloaded() != 0 { return .alreadyCounted }
    let wanted =
      switch hook {
      case .auto: HW_HOOK_AUTO
      case .entry: HW_HOOK_ENTRY
      case .tables: HW_HOOK_TABLES
      }
    let code = hw_instances_start(highwaterFile(), CInt(wanted.rawValue), isExact ? 1 : 0)
    return InstanceProfiler.Refusal(hw_instances_refusal(rawValue: UInt32(code)))
  }

  static func stop() { hw_instances_stop() }

  static func markGeneration() -> Int { Int(hw_instances_mark_generation()) }

  static var classes: [InstanceSnapshot.ClassCount] {
    var counts: [String: InstanceSnapshot.ClassCount] = [:]
    for index in 0..<hw_instances_count() {
      let found = hw_instances_class_at(index)
      guard let kind = InstanceSnapshot.Kind(found.kind), found.allocated + found.freed > 0 else { continue }
      let count = InstanceSnapshot.ClassCount(found, kind: kind)
      // Several contexts have one name, and so have private types of different files.
      counts[count.name, default: count.empty] += count
    }
    return counts.values.sorted { $0.name < $1.name }
  }

  static var uncounted: Int { Int(hw_instances_uncounted()) }

  /// The count of one class; nil if there never was an instance.
  static func count(of type: AnyClass) -> InstanceSnapshot.ClassCount? {
    let metadata = metadata(of: type)
    for index in 0..<hw_instances_count() {
      let found = hw_instances_class_at(index)
      if found.metadata == metadata { return InstanceSnapshot.ClassCount(found, kind: .class) }
    }
    return nil
  }

  static func objects(of type: AnyClass, inGeneration generation: Int) -> [UInt] {
    guard let generation = UInt32(exactly: generation) else { return [] }
    let metadata = metadata(of: type)
    let most = hw_instances_objects(metadata, generation, nil, 0)
    return [UInt](unsafeUninitializedCapacity: most) { buffer, count in
      buffer.withMemoryRebound(to: UInt64.self) {
        count = min(most, hw_instances_objects(metadata, generation, $0.baseAddress, most))
      }
    }
  }

  /// Returns the error number, or nil on success.
  static func writeSnapshots(to path: String, at signal: CInt) -> CInt? {
    let code = path.withCString { path in
      build.utf8Start.withMemoryRebound(to: CChar.self, capacity: build.utf8CodeUnitCount + 1) {
        hw_instances_write_at(signal, path, $0)
      }
    }
    return code == 0 ? nil : code
  }

  private static var build: StaticString {
    switch InstanceSnapshot.Build.current {
    case .debug: "debug"
    case .release: "release"
    }
  }

  private static func metadata(of type: AnyClass) -> UInt64 { UInt64(UInt(bitPattern: ObjectIdentifier(type))) }

  private static func highwaterFile() -> String? {
    guard let folder = getenv("HIGHWATER_INSTANCES"), folder.pointee != 0 else { return nil }
    return "\(String(cString: folder))/\(getpid())"
  }
}

extension InstanceProfiler.Refusal {
  /// A start while counting is on is none.
  fileprivate init?(_ code: hw_instances_refusal) {
    switch code {
    case HW_REFUSED_NOT, HW_REFUSED_RUNNING: return nil
    case HW_REFUSED_NO_RUNTIME: self = .noRuntime
    case HW_REFUSED_UNKNOWN_CODE: self = .unknownCode
    case HW_REFUSED_THREADS: self = .otherThreads
    case HW_REFUSED_PROTECTION: self = .protectedMemory
    case HW_REFUSED_NO_TABLES: self = .noTables
    case HW_REFUSED_NO_MEMORY: self = .noMemory
    default: self = .failedSelfTest
    }
  }
}

extension InstanceSnapshot.Kind {
  /// Nil for the object of the self-test.
  fileprivate init?(_ kind: CInt) {
    switch hw_instances_kind(rawValue: UInt32(kind)) {
    case HW_KIND_CLASS: self = .class
    case HW_KIND_CONTEXT: self = .context
    case HW_KIND_ERROR: self = .error
    default: return nil
    }
  }
}

extension InstanceSnapshot.ClassCount {
  fileprivate init(_ found: hw_instances_class, kind: InstanceSnapshot.Kind) {
    self.init(
      name: found.name.withMemoryRebound(to: UInt8.self, capacity: found.name_length) {
        String(decoding: UnsafeBufferPointer(start: $0, count: found.name_length), as: UTF8.self)
      },
      kind: kind,
      live: Int(found.allocated) - Int(found.freed),
      allocated: Int(found.allocated),
      deallocated: Int(found.freed),
      bytesAllocated: Int(found.bytes),
      instanceSize: Int(found.instance_size)
    )
  }

  fileprivate var empty: Self {
    Self(
      name: name, kind: kind, live: 0, allocated: 0, deallocated: 0, bytesAllocated: 0, instanceSize: instanceSize)
  }

  fileprivate static func += (sum: inout Self, count: Self) {
    sum.live += count.live
    sum.allocated += count.allocated
    sum.deallocated += count.deallocated
    sum.bytesAllocated += count.bytesAllocated
  }
}

#endif
