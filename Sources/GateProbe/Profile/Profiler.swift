import CMemoryProfiler
import GateCore
import Glibc
import LinuxSystem

/// What a profiled target needs besides the tracer: a preloaded library, its ring of samples, and a file for the result.
struct Profiler {
  /// The mean number of bytes between sampled allocations, at first: it grows with the number of samples.
  let interval: Bytes
  /// Receives the profiles when the target has ended.
  let output: Descriptor
  /// Shared by the target's processes and the supervisor.
  let ring: Descriptor
  private let ringPath: String
  /// Samples allocations.
  private let library: PreloadedLibrary
  /// Sample the heaps of runtimes with a garbage collector.
  let heapSamplers: HeapSamplers

  /// Writes the library and the ring to a folder.
  init(interval: Bytes, in folder: String) throws(SystemFailure) {
    self.interval = interval
    // Before the fork of the supervisor, which must not load libraries.
    _ = Self.missingLibrary
    guard let output = LinuxCalls.anonymousFile(named: "highwater-profile") else {
      throw SystemFailure(.open, path: "highwater-profile", code: errno)
    }
    self.output = output
    library = try PreloadedLibrary(base64: EmbeddedLibrary.base64, to: Self.libraryPath(in: folder))
    heapSamplers = try HeapSamplers(interval: interval, in: folder)
    ringPath = Self.ringPath(in: folder)
    ring = try Self.newRing(at: ringPath)
  }

  /// Creates a ring that others may write to, since a target may drop root before it executes another program.
  private static func newRing(at path: String) throws(SystemFailure) -> Descriptor {
    let file = try Descriptor.file(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o666)
    guard fchmod(file.number, 0o666) == 0, ftruncate(file.number, Int(hw_profile_ring_size())) == 0 else {
      throw SystemFailure(.open, path: path, code: errno)
    }
    return file
  }

  static func libraryPath(in folder: String) -> String { "\(folder)/\(libraryName)" }

  static func ringPath(in folder: String) -> String { "\(folder)/\(HW_PROFILE_RING_FILE)" }

  static let libraryName = "libhighwater-allocations.so"

  /// Adds the variables of the library.
  func add(to environment: inout [String: String]) {
    library.add(to: &environment)
    heapSamplers.add(to: &environment)
    environment["HIGHWATER_SAMPLING"] = "\(interval.count):\(ringPath)"
  }

  /// The profiles of the target's processes, the largest of each name, once its tree is empty.
  var profiles: [MemoryProfile] {
    guard let file = ProcFile(path: "/proc/self/fd/\(output.number)") else { return [] }
    var text: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
      while let bytes = file.read(into: buffer, at: text.count), !bytes.isEmpty { text += bytes }
    }
    return MemoryProfileReader.profiles(in: text, heaps: heapSamplers.logs)
  }

  /// Why call stacks are followed by frame pointers alone; nil if libdw was loaded, which happens at the first use.
  static let missingLibrary: String? = hw_profile_load().map { String(systemText: $0) }

  /// Whether page faults can stop the target.
  static let canStopAtFaults = hw_profile_may_stop_at_faults() == 0

  static var limits: ProfilerLimits {
    ProfilerLimits(canStopAtFaults: canStopAtFaults, missingLibrary: missingLibrary)
  }
}
