package import GateCore
import Glibc
import LinuxSystem

extension RunNote {
  /// The note on a change of these files, relative to the repository's root; nil if it is judged by none of them.
  package init?(onEditsOf files: [String], in project: Project) {
    func relative(_ path: String) -> String { PathText.relative(path, to: project.root) }
    let patterns = project.includes.map(relative)
    let judging = files.filter { file in
      file == relative(project.file) || patterns.contains { Self.matches(file, $0) }
    }
    let folders = Set(files.compactMap { Self.folder(of: $0, below: relative(project.baselines)) })
    let names = Dictionary(project.scenarios.map { ($0.name.pathComponent, $0.name.text) }) { first, _ in first }
    guard !judging.isEmpty || !folders.isEmpty else { return nil }
    self = .editsOwnGate(baselines: folders.map { names[$0] ?? $0 }.sorted(), files: judging.sorted())
  }

  /// The scenario's folder of a baseline.
  private static func folder(of file: String, below baselines: String) -> String? {
    guard file.hasPrefix("\(baselines)/"), file.hasSuffix(".json") else { return nil }
    let parts = file.dropFirst(baselines.count + 1).split(separator: "/")
    return parts.count == 2 ? String(parts[0]) : nil
  }

  /// As glob(7) matches, so that a file counts that was removed.
  private static func matches(_ file: String, _ pattern: String) -> Bool {
    fnmatch(pattern.systemText, file.systemText, FNM_PATHNAME | FNM_PERIOD) == 0
  }
}
