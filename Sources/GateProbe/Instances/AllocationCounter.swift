import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// The library that counts the allocations of the target's processes, and its counts.
struct AllocationCounter {
  private let folder: String
  private let library: PreloadedLibrary

  /// Writes the library to a folder, in which the processes of the target create files with their counts.
  init(in parent: String) throws(SystemFailure) {
    folder = Self.folder(in: parent)
    PreloadedLibrary.makeFolder(at: folder)
    library = try PreloadedLibrary(base64: EmbeddedAllocationCounter.base64, to: Self.library(in: parent))
  }

  private static func folder(in parent: String) -> String { parent + "/allocations" }

  private static func library(in parent: String) -> String { parent + "/libhighwater-counts.so" }

  /// Removes what ``init(in:)`` and the target created in the folder, if anything.
  static func removeFiles(in parent: String) {
    for name in names(in: folder(in: parent)) { unlink("\(folder(in: parent))/\(name)".systemText) }
    rmdir(folder(in: parent).systemText)
    unlink(library(in: parent).systemText)
  }

  /// Adds the variables of the library.
  func add(to environment: inout [String: String]) {
    library.add(to: &environment)
    environment["HIGHWATER_ALLOCATIONS"] = folder
  }

  /// The counts of all processes, once they have ended.
  func finish(_ processes: [ProcessRecord]) -> AllocationReading {
    let files = Self.names(in: folder).compactMap { name in
      SmallFile.bytes(at: "\(folder)/\(name)").flatMap { AllocationFile(name: name, $0) }
    }
    let program = processes.first(where: \.isMain)?.id
    let own = files.filter { $0.process == program }
    guard !own.isEmpty else { return AllocationReading(refusal: .notLoaded) }
    guard own.allSatisfy({ !$0.isReplaced }) else { return AllocationReading(refusal: .replaced) }
    let counted = Dictionary(files.filter(\.isExecuted).map { ($0.process, 1) }, uniquingKeysWith: +)
    guard processes.allSatisfy({ $0.programs <= counted[$0.id] ?? 0 }) else {
      return AllocationReading(refusal: .notLoadedByAll)
    }
    func sum(_ value: KeyPath<AllocationFile, Int64>) -> Int64 { files.reduce(0) { $0 + $1[keyPath: value] } }
    return AllocationReading(counts: [
      .allocations: sum(\.allocations), .allocatedBytes: sum(\.bytes), .liveHeap: files.map(\.highest).max() ?? 0,
    ])
  }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}

/// The file of one program of a process, named after it: `struct hw_counts` of AllocationCounter/counts.h.
struct AllocationFile: Equatable {
  let process: Int32
  let isReplaced: Bool
  /// Whether it is of a program that the process has executed, and not of a copy after fork(2).
  let isExecuted: Bool
  let allocations: Int64
  let bytes: Int64
  let highest: Int64

  /// A larger number is not one that a program has counted; sums of all processes cannot overflow.
  private static let most: Int64 = 1 << 48

  /// Reads the name, as in `4711.0`, and the six numbers; nil for other files.
  init?(name: String, _ content: [UInt8]) {
    let parts = name.split(separator: ".")
    guard parts.count == 2, let process = Int32(parts[0]), content.count == 48 else { return nil }
    let numbers = content.withUnsafeBytes { bytes in
      (0..<6).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self) }
    }
    guard [1, 2].contains(numbers[0]), [1, 2, 4].allSatisfy({ (0...Self.most).contains(numbers[$0]) }) else {
      return nil
    }
    (self.process, isReplaced, isExecuted) = (process, numbers[0] == 2, numbers[5] == 1)
    (allocations, bytes, highest) = (numbers[1], numbers[2], numbers[4])
  }
}
