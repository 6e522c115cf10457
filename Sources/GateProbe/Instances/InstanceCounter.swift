import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// The library that counts the living instances of Swift classes in the target's processes, and its counts.
final class InstanceCounter: Sendable {
  private let folder: String
  private let library: PreloadedLibrary
  private let highest = Mutex<[String: Int]>([:])

  /// Writes the library to a folder, in which the processes of the target create files with their counts.
  init(in parent: String) throws(SystemFailure) {
    folder = Self.folder(in: parent)
    PreloadedLibrary.makeFolder(at: folder)
    library = try PreloadedLibrary(base64: EmbeddedInstanceCounter.base64, to: Self.library(in: parent))
  }

  private static func folder(in parent: String) -> String { parent + "/instances" }

  private static func library(in parent: String) -> String { parent + "/libhighwater-instances.so" }

  /// Removes what ``init(in:)`` and the target created in the folder, if anything.
  static func removeFiles(in parent: String) {
    for process in processes(in: folder(in: parent)) { unlink("\(folder(in: parent))/\(process)".systemText) }
    rmdir(folder(in: parent).systemText)
    unlink(library(in: parent).systemText)
  }

  /// Adds the variables of the library.
  func add(to environment: inout [String: String]) {
    library.add(to: &environment)
    environment["HIGHWATER_INSTANCES"] = folder
  }

  /// Reads the counts of all living processes, at a mark.
  func read() {
    let living = readProcesses.filter { kill($0, 0) == 0 || errno == EPERM }
    var sums: [String: Int] = [:]
    for process in living { sums.merge(file(of: process)?.live ?? [:]) { $0 + $1 } }
    raise(to: sums)
  }

  /// The highest counts, once all processes have ended, including those that each process ended with.
  func finish() -> InstanceReading {
    guard Self.processes(in: folder).count <= Self.mostProcesses else {
      return InstanceReading(refusal: .tooManyProcesses)
    }
    let files = readProcesses.compactMap(file)
    for file in files where file.refusal == nil { raise(to: file.live) }
    guard files.contains(where: { $0.refusal == nil }) else {
      return InstanceReading(refusal: files.lazy.compactMap(\.refusal).first ?? .notLoaded)
    }
    return InstanceReading(highest: highest.withLock { $0 })
  }

  private func raise(to counts: [String: Int]) {
    highest.withLock { $0.merge(counts, uniquingKeysWith: max) }
  }

  private func file(of process: Int32) -> InstanceFile? {
    InstanceFile(at: "\(folder)/\(process)")
  }

  /// A target with more processes would make reading slow: it is not counted.
  private static let mostProcesses = 512

  private var readProcesses: some Sequence<Int32> { Self.processes(in: folder).sorted().prefix(Self.mostProcesses) }

  private static func processes(in folder: String) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { Int32($0) }
  }
}
