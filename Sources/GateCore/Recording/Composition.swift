/// The main process's resident memory by kind of mapping.
package struct Composition: Sendable, Equatable {
  package var anonymous: Bytes
  package var file: Bytes
  package var shared: Bytes
  /// nil if the process was too short-lived for a reading of its mappings (`smaps`).
  package var stack: Bytes?
  package var heap: Bytes?
  /// Pages released with `MADV_FREE` that the kernel has not yet reclaimed: part of `anonymous`, but not a leak.
  package var lazilyFreed: Bytes?
  /// Anonymous memory in transparent huge pages: part of `anonymous`.
  package var hugePages: Bytes?
  /// Resident pages by file, and by shared memory, the largest first; at most ``mostLibraries``.
  package var libraries: [Library]
  /// Files in memory (tmpfs, memfd_create(2)) that the processes of the tree have written and none has mapped, the largest
  /// first, by their paths, when they held most; no part of the other amounts.
  package var unmapped: [Library] = []
  /// The paths of the files whose code is mapped, the program's own and its libraries'; known only during the
  /// measurement and not stored.
  package var codeFiles: [String] = []
  /// The garbage-collected runtime that the program belongs to; nil for others.
  package var runtime: CollectedRuntime?

  /// The resident pages of one mapped file, or of shared memory.
  package struct Library: Sendable, Hashable, Codable {
    /// The last part of its path; of shared memory the whole, as in `/dev/shm/pool` and `/memfd:pool`.
    package var name: String
    package var resident: Bytes

    package init(name: String, resident: Bytes) {
      self.name = name
      self.resident = resident
    }

    package var isShared: Bool { name.hasPrefix("/") }

    var lastPart: String { String(name.split(separator: "/").last ?? "") }
  }

  package static let mostLibraries = 32
  /// Of a baseline.
  package static let storedLibraries = 10

  package init(
    anonymous: Bytes,
    file: Bytes,
    shared: Bytes,
    stack: Bytes? = nil,
    heap: Bytes? = nil,
    lazilyFreed: Bytes? = nil,
    hugePages: Bytes? = nil,
    libraries: [Library] = []
  ) {
    self.anonymous = anonymous
    self.file = file
    self.shared = shared
    self.stack = stack
    self.heap = heap
    self.lazilyFreed = lazilyFreed
    self.hugePages = hugePages
    self.libraries = libraries
  }

  /// The sum: the resident memory at the time of the reading.
  package var resident: Bytes { Bytes(anonymous.count + file.count + shared.count) }
}

/// A reading of the main process's memory composition.
package struct CompositionReading: Sendable, Equatable {
  /// Time since the target's exec.
  package var time: Duration
  package var composition: Composition
  /// Its proportional set size (`Pss`); nil if it was not read.
  package var proportional: Bytes?

  package init(time: Duration, composition: Composition, proportional: Bytes? = nil) {
    self.time = time
    self.composition = composition
    self.proportional = proportional
  }
}
