import CMemoryProfiler
import GateCore
import Glibc
import LinuxSystem

/// What a profiled target needs besides the tracer: a preloaded library, and a file for the result.
struct Profiler {
  /// The mean number of bytes between sampled allocations.
  let interval: Bytes
  /// Receives the profiles when the target has ended.
  let output: Descriptor
  /// Samples allocations.
  private let library: PreloadedLibrary

  /// Writes the library to a folder.
  init(interval: Bytes, in folder: String) throws(SystemFailure) {
    self.interval = interval
    // Before the fork of the supervisor, which must not load libraries.
    _ = Self.missingLibrary
    guard let output = LinuxCalls.anonymousFile(named: "highwater-profile") else {
      throw SystemFailure(.open, path: "highwater-profile", code: errno)
    }
    self.output = output
    library = try PreloadedLibrary(base64: EmbeddedLibrary.base64, to: Self.libraryPath(in: folder))
  }

  static func libraryPath(in folder: String) -> String { "\(folder)/\(libraryName)" }

  static let libraryName = "libhighwater-allocations.so"

  /// Adds the variables of the library.
  func add(to environment: inout [String: String]) {
    library.add(to: &environment)
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
