import GateCore
import Glibc
import LinuxSystem

/// The library that makes the target hold memory in the way of a regression (``Mutation``).
struct MutationLibrary {
  private let folder: String
  private let library: PreloadedLibrary
  private let injection: Injection

  /// Writes the library, and the file that it may map, to a folder.
  init(_ injection: Injection, in parent: String) throws(SystemFailure) {
    self.injection = injection
    folder = Self.folder(in: parent)
    PreloadedLibrary.makeFolder(at: folder)
    library = try PreloadedLibrary(base64: EmbeddedMutationLibrary.base64, to: Self.library(in: parent))
    let pages = try Descriptor.file(folder + "/pages", O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
    try SystemFailure.of(.write, path: folder) { () throws(ErrorNumber) in
      try retrying { ftruncate(pages.number, off_t(injection.amount.count)) }
    }
  }

  private static func folder(in parent: String) -> String { parent + "/mutation" }

  private static func library(in parent: String) -> String { parent + "/libhighwater-mutation.so" }

  /// Removes what ``init(_:in:)`` and the target created in the folder, if anything.
  static func removeFiles(in parent: String) {
    for name in ["pages", "loaded", "injected"] { unlink("\(folder(in: parent))/\(name)".systemText) }
    rmdir(folder(in: parent).systemText)
    unlink(library(in: parent).systemText)
  }

  /// Adds the variables of the library.
  func add(to environment: inout [String: String]) {
    library.add(to: &environment)
    let (kind, amount, time) = (injection.mutation.rawValue, injection.amount.count, injection.duration.nanoseconds)
    environment["HIGHWATER_MUTATION"] = "\(kind):\(amount):\(time):\(injection.peak.count):\(folder)"
  }

  /// What the processes of the target have done so far.
  var state: InjectionState {
    func has(_ note: String) -> Bool { access("\(folder)/\(note)".systemText, F_OK) == 0 }
    return has("injected") ? .injected : has("loaded") ? .notInjected : .notLoaded
  }
}
