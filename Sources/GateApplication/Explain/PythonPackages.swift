import GateCore

/// What packages of Python have installed beside the code on call stacks.
struct PythonPackages {
  /// The folders of packages that code on the stacks is in.
  private let folders: [String]

  init(_ frames: [StackFrame]) {
    let files = frames.compactMap(\.file).filter { $0.hasPrefix("/") }
    folders = Set(files.compactMap { CodeOrigin.packageFolder($0).map(String.init) }).sorted()
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
        return Set(lines.compactMap { $0.split(separator: "/").first.map(String.init) })
      }
    }
    return []
  }
}
