import FoundationEssentials
import GateCore
import LinuxSystem

/// How a change moves the baselines that it is judged by.
struct BaselineEdits {
  let project: Project
  /// The commit in which the change left its target.
  let base: String
  /// A folder for the files of that commit.
  let folder: String

  /// More are not compared: each takes a few starts of git.
  private static let mostScenarios = 50

  /// A note for each baseline whose gated metrics move, in the order of the project file.
  func notes(on files: [String]) -> [RunNote] {
    let edited = project.scenarios.filter { scenario in
      let path = relativeFolder(of: scenario)
      return files.contains { $0.hasPrefix("\(path)/") }
    }
    return edited.prefix(Self.mostScenarios).flatMap(notes)
  }

  private func relativeFolder(of scenario: Scenario) -> String {
    let baselines = project.repositoryPath(of: project.baselines, from: project.root)
    return "\(baselines)/\(scenario.name.pathComponent)"
  }

  private func notes(on scenario: Scenario) -> [RunNote] {
    let (before, now) = (BaselineStore(folder: folder), BaselineStore(folder: project.baselines))
    let path = relativeFolder(of: scenario)
    for file in GitQuery.files(below: path, at: base, in: project.root) where file.hasSuffix(".json") {
      guard !BaselineStore.isGenerated(file), let bytes = GitQuery.content(of: file, at: base, in: project.root) else {
        continue
      }
      let place = "\(folder)/\(scenario.name.pathComponent)\(file.dropFirst(path.count))"
      try? SafeFile.write(bytes, to: place)
    }
    guard scenario.target.suite == nil else { return suiteNotes(on: scenario) }
    let environments = Set(before.environments(of: scenario.name) + now.environments(of: scenario.name)).sorted()
    return environments.compactMap { environment in
      let baselines = [before, now].map { (try? $0.load(scenario.name, environment: environment)) ?? nil }
      guard let after = baselines[1] else { return nil }
      return RunNote(onMoveFrom: baselines[0], to: after, gate: scenario.gate)
    }
  }

  private func suiteNotes(on scenario: Scenario) -> [RunNote] {
    let folders = [folder, project.baselines].map { "\($0)/\(scenario.name.pathComponent)" }
    let names = Set(folders.flatMap { (try? Descriptor.folder($0).names()) ?? [] })
    return names.filter { $0.hasSuffix(SuiteBaselineFile.ending) }.sorted().compactMap { name in
      let baselines = folders.map { (try? SuiteBaselineFile(path: "\($0)/\(name)").read()) ?? nil }
      return baselines[1].flatMap { RunNote(onMoveFrom: baselines[0], to: $0) }
    }
  }
}
