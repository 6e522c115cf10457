import GateCore
import LinuxSystem

/// What packages of Python have installed beside the code on call stacks.
struct PythonPackages {
  /// The folders of packages that code on the stacks is in.
  private let folders: [String]

  /// Compiled code has no path: its package may also be in a virtual environment of a project's folder.
  init(_ frames: [StackFrame], projects: [String]) {
    let files = frames.compactMap(\.file).filter { $0.hasPrefix("/") }
    let known = Set(files.compactMap { CodeOrigin.packageFolder($0).map(String.init) })
    folders = known.isEmpty ? projects.flatMap(Self.environments) : known.sorted()
  }

  /// The folders of packages of a folder's virtual environments, which have a `pyvenv.cfg` (PEP 405).
  private static func environments(in project: String) -> [String] {
    names(in: project).map { "\(project)/\($0)" }
      .filter { (try? SafeFile.read($0 + "/pyvenv.cfg", atMost: largestRecord)) != nil }
      .flatMap { environment in
        names(in: environment + "/lib").filter { $0.hasPrefix("python3") }
          .map { "\(environment)/lib/\($0)/site-packages/" }
      }
  }

  private static func names(in folder: String) -> [String] {
    ((try? Descriptor.folder(folder).names(atMost: 2000)) ?? []).sorted()
  }

  private static let largestRecord = 4 << 20

  /// The names at the top of what a dependency has installed, by its list of files (PyPA, "Recording installed projects").
  func names(of dependency: DependencyChange) -> Set<String> {
    guard let version = dependency.now else { return [] }
    // The folder is named after the package with `_` for each run of `-`, `_` and `.`.
    let name = dependency.name.replacing(#/[-_.]+/#, with: "_")
    let candidates = Set([name, name.lowercased(), dependency.name]).sorted()
    for folder in folders {
      for candidate in candidates {
        let record = "\(folder)\(candidate)-\(version).dist-info/RECORD"
        guard let bytes = try? SafeFile.read(record, atMost: Self.largestRecord) else { continue }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        // `rapidjson.cpython-311-x86_64-linux-gnu.so` is a package without a folder.
        return Set(lines.compactMap { $0.split(separator: "/").first.map { String($0.prefix { $0 != "." }) } })
      }
    }
    return []
  }
}
