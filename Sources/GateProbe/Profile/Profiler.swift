import CMemoryProfiler
import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// What a profiled target needs besides the tracer: a preloaded library, and a file for the result.
struct Profiler {
  /// The mean number of bytes between sampled allocations.
  let interval: Bytes
  /// Receives the profiles when the target has ended.
  let output: Descriptor
  /// The path of the library that samples allocations.
  private let library: String

  /// Writes the library to a folder.
  init(interval: Bytes, in folder: String) throws(SystemFailure) {
    self.interval = interval
    // Before the fork of the supervisor, which must not load libraries.
    _ = Self.missingLibrary
    library = Self.libraryPath(in: folder)
    guard let output = LinuxCalls.anonymousFile(named: "highwater-profile") else {
      throw SystemFailure(.open, path: "highwater-profile", code: errno)
    }
    self.output = output
    // Readable by all, since a target may drop root before it executes another program.
    let file = try Descriptor.file(library, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
    var left = ArraySlice(Data(base64Encoded: EmbeddedLibrary.base64) ?? Data())
    while case .bytes(let count) = file.write(left), count > 0 { left = left.dropFirst(count) }
  }

  static func libraryPath(in folder: String) -> String { folder + "/libhighwater-allocations.so" }

  /// Adds the variables that load the library, before those that the target preloads itself: it calls their allocator.
  func add(to environment: inout [String: String]) {
    let others = environment["LD_PRELOAD"].map { ":\($0)" } ?? ""
    environment["LD_PRELOAD"] = library + others
    environment["HIGHWATER_SAMPLING"] = "\(interval.count)"
  }

  /// The profiles of the target's processes, the largest of each name, once its tree is empty.
  var profiles: [MemoryProfile] {
    guard let file = ProcFile(path: "/proc/self/fd/\(output.number)") else { return [] }
    var text: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
      while let bytes = file.read(into: buffer, at: text.count), !bytes.isEmpty { text += bytes }
    }
    return MemoryProfileReader.profiles(in: String(decoding: text, as: UTF8.self), interval: interval)
  }

  /// Why call stacks are followed by frame pointers alone; nil if libdw was loaded, which happens at the first use.
  static let missingLibrary: String? = hw_profile_load().map { String(systemText: $0) }

  /// Whether page faults can stop the target.
  static let canStopAtFaults = hw_profile_may_stop_at_faults() == 0

  static var limits: ProfilerLimits {
    ProfilerLimits(canStopAtFaults: canStopAtFaults, missingLibrary: missingLibrary)
  }
}
