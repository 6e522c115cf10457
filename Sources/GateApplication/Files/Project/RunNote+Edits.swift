package import GateCore
import Glibc
import LinuxSystem

extension RunNote {
  /// The note on a change of these files, relative to the repository's root; nil if it is judged by none of them.
  package init?(onEditsOf files: [String], in project: Project) {
    let edited = Set(files)
    let judging = edited.intersection(project.judgingFiles).union(
      files.filter { file in project.includePatterns.contains { Self.matches(file, $0) } })
    let scenarios = project.editedBaselines(files)
    guard !judging.isEmpty || !scenarios.isEmpty else { return nil }
    self = .editsOwnGate(baselines: scenarios, files: judging.sorted())
  }

  /// As glob(7) matches, so that a file counts that was removed.
  private static func matches(_ file: String, _ pattern: String) -> Bool {
    fnmatch(pattern.systemText, file.systemText, FNM_PATHNAME | FNM_PERIOD) == 0
  }
}

extension Project {
  private func relative(_ path: String) -> String { PathText.relative(path, to: root) }

  fileprivate var includePatterns: [String] { includes.map(relative) }

  /// The project file and what it includes, by each of the paths and links that lead to them.
  fileprivate var judgingFiles: Set<String> {
    let included = includes.flatMap { IncludeGlob.matches(of: $0, root: root) }
    let paths = ([file] + included).map { LinkedPath(relative($0), in: root) }
    return Set(paths.flatMap { $0.spellings + $0.links })
  }

  /// The scenarios whose baselines a change of these files edits, by name; an unknown one has its folder's name.
  fileprivate func editedBaselines(_ files: [String]) -> [String] {
    let names = Dictionary(scenarios.map { ($0.name.pathComponent, $0.name.text) }) { first, _ in first }
    let folder = LinkedPath(relative(baselines), in: root)
    let direct = folder.spellings.flatMap { spelling in files.compactMap { Self.folder(of: $0, below: spelling) } }
    let isMoved = files.contains(where: folder.links.contains)
    let linked = scenarios.filter { isMoved || isLinked($0, to: files) }.map(\.name.pathComponent)
    return Set(direct + linked).map { names[$0] ?? $0 }.sorted()
  }

  /// Whether the baselines of a scenario are reached by a link that the change edits, or are links to what it edits.
  private func isLinked(_ scenario: Scenario, to files: [String]) -> Bool {
    let edited = Set(files)
    let folder = "\(relative(baselines))/\(scenario.name.pathComponent)"
    let path = LinkedPath(folder, in: root)
    if path.links.contains(where: edited.contains) { return true }
    if path.spellings.dropFirst().contains(where: { spelling in files.contains { $0.hasPrefix("\(spelling)/") } }) {
      return true
    }
    let names = (try? Descriptor.open("\(root)/\(folder)", O_RDONLY | O_DIRECTORY).names()) ?? []
    return names.contains { LinkedPath("\(folder)/\($0)", in: root).spellings.contains(where: edited.contains) }
  }

  /// The scenario's folder of a baseline, or of a change or profile beside it.
  private static func folder(of file: String, below baselines: String) -> String? {
    guard file.hasPrefix("\(baselines)/"), file.hasSuffix(".json") else { return nil }
    let parts = file.dropFirst(baselines.count + 1).split(separator: "/")
    return parts.count >= 2 ? String(parts[0]) : nil
  }
}
