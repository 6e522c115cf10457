package import GateCore
import Glibc
import LinuxSystem

/// The folder of approved baselines, with one file for each scenario and environment.
///
/// The folder itself may be a symbolic link; names of scenarios and environments never lead out of it.
package struct BaselineStore: Sendable, Equatable {
  /// The outcome of saving a baseline.
  package enum SaveOutcome: Sendable, Equatable {
    /// The file already has the same values and was left unchanged.
    case unchanged
    case created, replaced
  }

  package let folder: String

  package init(folder: String) {
    self.folder = folder
  }

  /// `<folder>/<scenario>/<environment>.json`.
  package func path(_ scenario: ScenarioName, _ environment: String) -> String {
    "\(folder)/\(scenario.pathComponent)/\(FileName.component(for: environment)).json"
  }

  /// Reads a baseline.
  ///
  /// - Returns: nil if the file does not exist.
  /// - Throws: also if the file is another baseline.
  package func load(_ scenario: ScenarioName, environment: String) throws(FileError) -> Baseline? {
    let path = path(scenario, environment)
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try SafeFile.read(path, atMost: BaselineFile.largest)
    } catch let error where error.code == .notFound {
      return nil
    }
    let baseline = try BaselineFile.decode(bytes, path: path)
    try check(baseline.scenario.text, is: scenario.text, key: "scenario", path: path)
    try check(baseline.environment, is: environment, key: "environment", path: path)
    return baseline
  }

  /// The environments for which the scenario has a baseline, sorted; an unreadable file is listed by its name.
  package func environments(of scenario: ScenarioName) -> [String] {
    files(of: scenario).map { name, path in
      let bytes = try? SafeFile.read(path, atMost: BaselineFile.largest)
      let baseline = bytes.flatMap { try? BaselineFile.decode($0, path: path) }
      guard let baseline, self.path(scenario, baseline.environment) == path else { return String(name.dropLast(5)) }
      return baseline.environment
    }
    .sorted()
  }

  /// Our side of a merge conflict in a baseline's file, or else theirs; nil if there is none that can be read.
  package func conflictingSide(_ scenario: ScenarioName, environment: String) -> Baseline? {
    let bytes = try? SafeFile.read(path(scenario, environment), atMost: BaselineFile.largest)
    let sides = bytes.flatMap(ConflictVersions.init)?.baselines
    return sides?.ours ?? sides?.theirs
  }

  /// What is wrong with the baselines of these scenarios, in all environments, as far as their text shows it.
  package func errors(in scenarios: [ScenarioName]) -> [FileError] {
    scenarios.flatMap(files).compactMap { _, path in
      do throws(FileError) {
        let bytes = try SafeFile.read(path, atMost: BaselineFile.largest)
        if BaselineFile.isSuspect(bytes) { _ = try BaselineFile.decode(bytes, path: path) }
        return nil
      } catch {
        return error
      }
    }
  }

  /// The paths, sorted, of the folders of scenarios other than these.
  package func folders(except scenarios: [ScenarioName]) -> [String] {
    let known = Set(scenarios.map(\.pathComponent))
    let entries = (try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).entries()) ?? []
    return entries.filter { $0.isFolder && !$0.name.hasPrefix(".") && !known.contains($0.name) }
      .map { "\(folder)/\($0.name)" }.sorted()
  }

  /// The files of a scenario's baselines in all environments, sorted.
  private func files(of scenario: ScenarioName) -> [(name: String, path: String)] {
    let folder = "\(folder)/\(scenario.pathComponent)"
    let names = (try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).names()) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().map { ($0, "\(folder)/\($0)") }
  }

  /// Writes a baseline, unless the file already has the same values: then the older approval stays.
  ///
  /// A malformed file is replaced: approving again repairs it.
  ///
  /// - Throws: also if the baseline could not be read back, such as one without values.
  package func save(_ baseline: Baseline) throws(FileError) -> SaveOutcome {
    let path = path(baseline.scenario, baseline.environment)
    try checkIsNoLink(SafeFile.folder(of: path))
    let bytes = BaselineFile.encode(baseline)
    let written = try BaselineFile.decode(bytes, path: path)
    let existing: Baseline?
    do throws(FileError) {
      existing = try load(baseline.scenario, environment: baseline.environment)
      if let existing, existing.hasValues(of: written) { return .unchanged }
    } catch let error where [.malformed, .wrongSchema, .tooLarge].contains(error.code) {
      try SafeFile.write(bytes, to: path)
      return .replaced
    }
    try SafeFile.write(bytes, to: path)
    return existing == nil ? .created : .replaced
  }

  // MARK: Profiles

  /// `<folder>/<scenario>/profiles/<environment>.json`: what held the memory of the approved build.
  private func profilePath(_ scenario: ScenarioName, _ environment: String) -> String {
    "\(folder)/\(scenario.pathComponent)/profiles/\(FileName.component(for: environment)).json"
  }

  /// Reads the profile of an approved build; nil if there is none that can be read.
  package func profile(of scenario: ScenarioName, environment: String) -> ProfiledBuild? {
    try? ProfileFile.read(profilePath(scenario, environment))
  }

  /// Writes the profile of an approved build; without one, removes that of an earlier approval.
  package func saveProfile(
    _ profile: ProfiledBuild?, of scenario: ScenarioName, environment: String
  ) throws(FileError) {
    let path = profilePath(scenario, environment)
    try checkIsNoLink(SafeFile.folder(of: path))
    if let profile { return try SafeFile.write(ProfileFile.encode(profile), to: path) }
    unlink(path.systemText)
  }

  /// A folder below that of baselines may have been committed by anybody, and a link may lead anywhere.
  private func checkIsNoLink(_ folder: String) throws(FileError) {
    let kind: Descriptor.Kind?
    do throws(ErrorNumber) { kind = try Descriptor.kind(of: folder, followingLinks: false) } catch {
      throw error.whileWriting(folder)
    }
    guard kind == .link else { return }
    throw FileError(
      code: .malformed, path: folder, problem: "is a symbolic link, expected a folder",
      hint: "replace it with the folder that it points to")
  }

  private func check(_ found: String, is asked: String, key: String, path: String) throws(FileError) {
    guard found != asked else { return }
    throw FileError(
      code: .malformed,
      path: path,
      problem: "`\(key)` is `\(found.printable)`, expected `\(asked)` by the file's path",
      hint: "move the file, or recreate it with `highwater approve`"
    )
  }
}

extension Baseline {
  /// Whether everything is equal except the approval and the curve, which differs in every run.
  fileprivate func hasValues(of other: Baseline) -> Bool {
    var plain = self
    plain.approval = other.approval
    plain.curve = other.curve
    return plain == other
  }
}
