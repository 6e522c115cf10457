import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// The folder of approved baselines, with one file for each scenario and environment, and one for each change since.
///
/// The folder itself may be a symbolic link; names of scenarios and environments never lead out of it.
struct BaselineStore: Sendable, Equatable {
  /// The outcome of saving a baseline.
  enum SaveOutcome: Sendable, Equatable {
    /// The file already has the same values and was left unchanged.
    case unchanged
    case created, replaced
  }

  let folder: String

  /// `<folder>/<scenario>/<environment>.json`.
  func path(_ scenario: ScenarioName, _ environment: String) -> String {
    "\(folder)/\(scenario.pathComponent)/\(FileName.component(for: environment)).json"
  }

  /// Reads what is expected: a baseline with the changes that were approved since.
  ///
  /// - Returns: nil if there is no baseline.
  /// - Throws: also if the file is another baseline.
  func load(_ scenario: ScenarioName, environment: String) throws(FileError) -> Baseline? {
    guard let baseline = try measured(scenario, environment: environment) else { return nil }
    let changes = try changes(of: scenario, environment: environment)
    var expected = baseline.expecting(changes)
    guard let last = Self.last(of: changes) else { return expected }
    // The details are those of the run that measured what is expected; no run has shown what several branches add up to.
    let details = last.isMeasured(in: expected) ? details(of: scenario, environment: environment, last) : nil
    (expected.composition, expected.curve) = (details?.composition, details?.curve)
    return expected
  }

  /// Reads a baseline as it was measured.
  private func measured(_ scenario: ScenarioName, environment: String) throws(FileError) -> Baseline? {
    let path = path(scenario, environment)
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try SafeFile.read(path, atMost: BaselineFile.largest)
    } catch let error where error.code == .notFound {
      return nil
    }
    var baseline = try BaselineFile.decode(bytes, path: path)
    baseline.curve =
      BaselineDetailsFile.read(
        generatedPath(Self.detailsFolder, scenario, environment), ofRun: baseline.approval?.run)?.curve
    try check(baseline.scenario.text, is: scenario.text, key: "scenario", path: path)
    try check(baseline.environment, is: environment, key: "environment", path: path)
    return baseline
  }

  /// The changes that were approved since the baseline was measured, in order of their file names.
  func changes(of scenario: ScenarioName, environment: String) throws(FileError) -> [BaselineChange] {
    var changes: [BaselineChange] = []
    for (name, path) in files(of: scenario, in: Self.changesFolder)
    where name.hasPrefix("\(FileName.component(for: environment)).") {
      let change = try BaselineChangeFile.decode(try SafeFile.read(path, atMost: BaselineFile.largest), path: path)
      // The name of an environment may begin with that of another.
      guard change.environment == environment else { continue }
      try check(change.scenario.text, is: scenario.text, key: "scenario", path: path)
      changes.append(change)
    }
    return changes
  }

  private static let changesFolder = "changes"

  /// `<folder>/<scenario>/changes/<environment>.<run>.json`.
  func path(_ change: BaselineChange) -> String {
    let name = "\(FileName.component(for: change.environment)).\(FileName.component(for: change.identifier))"
    return "\(folder)/\(change.scenario.pathComponent)/\(Self.changesFolder)/\(name).json"
  }

  /// Patterns of git for the files that decide what is expected, including removed ones.
  func patterns(of scenario: ScenarioName, environment: String) -> [String] {
    func literal(_ text: String) -> String { text.map { "*?[]\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() }
    let folder = literal("\(folder)/\(scenario.pathComponent)")
    let name = literal(FileName.component(for: environment))
    return [":(glob)\(folder)/\(name).json", ":(glob)\(folder)/\(Self.changesFolder)/\(name).*.json"]
  }

  /// Writes a change beside the baseline, with the details of what was measured.
  func save(_ change: BaselineChange, to measured: Baseline) throws(FileError) {
    let path = path(change)
    try checkIsNoLink(SafeFile.folder(of: SafeFile.folder(of: path)))
    try checkIsNoLink(SafeFile.folder(of: path))
    let composition = measured.composition?.keepingLibraries(Composition.storedLibraries)
    try write(
      BaselineDetails(run: change.identifier, curve: measured.curve, composition: composition),
      to: generatedPath(Self.detailsFolder, change.scenario, change.environment, change))
    try SafeFile.write(BaselineChangeFile.encode(change), to: path)
  }

  /// Removes the changes that a new baseline includes, and their profiles but one.
  private func removeChanges(
    of scenario: ScenarioName, environment: String, keepingProfileOf kept: BaselineChange? = nil
  ) {
    let kept = kept.map { "\(path($0).split(separator: "/").last ?? "")" }
    for (name, path) in files(of: scenario, in: Self.changesFolder)
    where name.hasPrefix("\(FileName.component(for: environment)).") {
      let bytes = try? SafeFile.read(path, atMost: BaselineFile.largest)
      let change = bytes.flatMap { try? BaselineChangeFile.decode($0, path: path) }
      guard change?.environment ?? environment == environment else { continue }
      unlink(path.systemText)
      unlink("\(folder)/\(scenario.pathComponent)/\(Self.detailsFolder)/\(name)".systemText)
      if name != kept { unlink("\(folder)/\(scenario.pathComponent)/\(Self.profilesFolder)/\(name)".systemText) }
    }
    guard let kept else { return }
    let others = foldedProfiles(of: scenario, environment: environment) + [profilePath(scenario, environment)]
    for path in others where !path.hasSuffix("/\(kept)") { unlink(path.systemText) }
  }

  /// The environments for which the scenario has a baseline, sorted; an unreadable file is listed by its name.
  func environments(of scenario: ScenarioName) -> [String] {
    files(of: scenario).map { name, path in
      let bytes = try? SafeFile.read(path, atMost: BaselineFile.largest)
      let baseline = bytes.flatMap { try? BaselineFile.decode($0, path: path) }
      guard let baseline, self.path(scenario, baseline.environment) == path else { return String(name.dropLast(5)) }
      return baseline.environment
    }
    .sorted()
  }

  /// Our side of a merge conflict in a baseline's file, or else theirs; nil if there is none that can be read.
  func conflictingSide(_ scenario: ScenarioName, environment: String) -> Baseline? {
    let bytes = try? SafeFile.read(path(scenario, environment), atMost: BaselineFile.largest)
    let sides = bytes.flatMap(ConflictVersions.init)?.baselines
    return sides?.ours ?? sides?.theirs
  }

  /// What is wrong with the baselines of these scenarios, in all environments, as far as their text shows it.
  func errors(in scenarios: [ScenarioName]) -> [FileError] {
    errorsInChanges(of: scenarios)
      + scenarios.flatMap { files(of: $0) }.compactMap { _, path in
        do throws(FileError) {
          let bytes = try SafeFile.read(path, atMost: BaselineFile.largest)
          if BaselineFile.isSuspect(bytes) { _ = try BaselineFile.decode(bytes, path: path) }
          return nil
        } catch {
          return error
        }
      }
  }

  private func errorsInChanges(of scenarios: [ScenarioName]) -> [FileError] {
    scenarios.flatMap { files(of: $0, in: Self.changesFolder) }.compactMap { _, path in
      do throws(FileError) {
        _ = try BaselineChangeFile.decode(try SafeFile.read(path, atMost: BaselineFile.largest), path: path)
        return nil
      } catch {
        return error
      }
    }
  }

  /// The paths, sorted, of the folders of scenarios other than these.
  func folders(except scenarios: [ScenarioName]) -> [String] {
    let known = Set(scenarios.map(\.pathComponent))
    let entries = (try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).entries()) ?? []
    return entries.filter { $0.isFolder && !$0.name.hasPrefix(".") && !known.contains($0.name) }
      .map { "\(folder)/\($0.name)" }.sorted()
  }

  /// The files of a scenario in all environments, sorted: those of its baselines, or those of a folder beside them.
  private func files(of scenario: ScenarioName, in part: String? = nil) -> [(name: String, path: String)] {
    let folder = "\(folder)/\(scenario.pathComponent)" + (part.map { "/\($0)" } ?? "")
    let names = (try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).names()) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().map { ($0, "\(folder)/\($0)") }
  }

  /// Writes a baseline in place of the last one and the changes since, unless that has the same values: then the older
  /// approval stays.
  ///
  /// A malformed file is replaced: approving again repairs it. The profile of a change may be that of the new baseline; it
  /// stays where it is, since git could not revert the commit that added it if it were renamed.
  ///
  /// - Throws: also if the baseline could not be read back, such as one without values.
  func save(_ baseline: Baseline, keepingProfileOf kept: BaselineChange? = nil) throws(FileError) -> SaveOutcome {
    let path = path(baseline.scenario, baseline.environment)
    try checkIsNoLink(SafeFile.folder(of: path))
    let bytes = BaselineFile.encode(baseline)
    let written = try BaselineFile.decode(bytes, path: path)
    let existing: Baseline?
    do throws(FileError) {
      existing = try load(baseline.scenario, environment: baseline.environment)
      if let existing, existing.changeCount == 0, existing.hasValues(of: written) { return .unchanged }
    } catch let error where [.malformed, .wrongSchema, .tooLarge].contains(error.code) {
      try write(bytes, baseline)
      removeChanges(of: baseline.scenario, environment: baseline.environment)
      return .replaced
    }
    try write(bytes, baseline)
    removeChanges(of: baseline.scenario, environment: baseline.environment, keepingProfileOf: kept)
    return existing == nil ? .created : .replaced
  }

  /// Writes the file of a baseline, and its details.
  private func write(_ bytes: [UInt8], _ baseline: Baseline) throws(FileError) {
    try write(
      BaselineDetails(run: baseline.approval?.run, curve: baseline.curve),
      to: generatedPath(Self.detailsFolder, baseline.scenario, baseline.environment))
    try SafeFile.write(bytes, to: path(baseline.scenario, baseline.environment))
  }

  // MARK: What nobody reviews

  private static let detailsFolder = "details"
  private static let profilesFolder = "profiles"

  /// Whether a file of a baseline is not among those that people review and that decide what is expected.
  static func isGenerated(_ path: String) -> Bool {
    [detailsFolder, profilesFolder].contains { path.contains("/\($0)/") }
  }

  /// `<folder>/<scenario>/<part>/<environment>.json`; of a change, as ``path(_:)``.
  private func generatedPath(
    _ part: String, _ scenario: ScenarioName, _ environment: String, _ change: BaselineChange? = nil
  ) -> String {
    let suffix = change.map { ".\(FileName.component(for: $0.identifier))" } ?? ""
    return "\(folder)/\(scenario.pathComponent)/\(part)/\(FileName.component(for: environment))\(suffix).json"
  }

  private func details(of scenario: ScenarioName, environment: String, _ change: BaselineChange) -> BaselineDetails? {
    let path = generatedPath(Self.detailsFolder, scenario, environment, change)
    return BaselineDetailsFile.read(path, ofRun: change.identifier)
  }

  /// Writes details; without any, removes those of an earlier approval.
  private func write(_ details: BaselineDetails?, to path: String) throws(FileError) {
    try checkIsNoLink(SafeFile.folder(of: path))
    if let details { return try SafeFile.write(BaselineDetailsFile.encode(details), to: path) }
    unlink(path.systemText)
  }

  /// What held the memory of the approved build, or of an approved change.
  private func profilePath(_ scenario: ScenarioName, _ environment: String, _ change: BaselineChange? = nil) -> String {
    generatedPath(Self.profilesFolder, scenario, environment, change)
  }

  /// Reads the profile of the build that was approved last; nil if it has none that can be read.
  ///
  /// An earlier one would explain a rise by what was approved since.
  func profile(of scenario: ScenarioName, environment: String) -> ProfiledBuild? {
    let last = lastChange(of: scenario, environment: environment)
    if let own = try? ProfileFile.read(profilePath(scenario, environment, last)) { return own }
    guard last == nil, let path = foldedProfiles(of: scenario, environment: environment).last else { return nil }
    return try? ProfileFile.read(path)
  }

  /// The change that was approved last; nil if there is none that can be read.
  func lastChange(of scenario: ScenarioName, environment: String) -> BaselineChange? {
    Self.last(of: (try? changes(of: scenario, environment: environment)) ?? [])
  }

  private static func last(of changes: [BaselineChange]) -> BaselineChange? {
    changes.max { $0.approval.at < $1.approval.at }
  }

  /// The profiles, in order of their runs, that stayed in their places when their changes became a part of the baseline.
  private func foldedProfiles(of scenario: ScenarioName, environment: String) -> [String] {
    let prefix = "\(FileName.component(for: environment))."
    return files(of: scenario, in: Self.profilesFolder).filter { name, _ in
      // The name of an environment may begin with that of another, but what follows is not the ID of a run.
      name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(".json".count))) != nil
    }.map(\.path)
  }

  /// Writes the profile of an approved build, or of an approved change; without one, removes that of an earlier approval.
  func save(
    _ profile: ProfiledBuild?, of scenario: ScenarioName, environment: String, with change: BaselineChange? = nil
  ) throws(FileError) {
    let path = profilePath(scenario, environment, change)
    try checkIsNoLink(SafeFile.folder(of: path))
    if change == nil { for path in foldedProfiles(of: scenario, environment: environment) { unlink(path.systemText) } }
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
