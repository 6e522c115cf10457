import GateCore
import Glibc
import LinuxSystem

/// The folder for a check's result, recordings and outputs.
struct ArtifactsFolder: Sendable, Equatable {
  let path: String

  var result: String { "\(path)/result.json" }

  /// The trend page of the latest check.
  var trend: String { "\(path)/trend.html" }

  /// The output of the build of another commit.
  var buildLog: String { "\(path)/build.log" }

  /// The notifications that are not yet delivered.
  var outbox: String { "\(path)/outbox" }

  /// The runs that are not yet in the history.
  var pendingRuns: String { "\(path)/pending-runs" }

  /// The recording of one repetition.
  func recording(of scenario: ScenarioName, repetition: Int) -> String {
    "\(path)/\(Kind.recordings.rawValue)/\(scenario.pathComponent)/\(repetition)\(Kind.recordings.suffix)"
  }

  /// What holds the memory of a scenario, if a check profiled it.
  func profilePath(_ scenario: ScenarioName) -> String {
    "\(path)/\(Kind.profiles.rawValue)/\(scenario.pathComponent)/1\(Kind.profiles.suffix)"
  }

  /// The output of the target in one repetition.
  func output(of scenario: ScenarioName, repetition: Int) -> String {
    "\(path)/\(Kind.output.rawValue)/\(scenario.pathComponent)/\(repetition)\(Kind.output.suffix)"
  }

  /// Creates the folder if it is missing, and checks that it is writable, and that no symbolic link leads out of it.
  ///
  /// A folder that is created here is ignored by git.
  ///
  /// - Parameter root: The repository's root.
  /// - Throws: also if it has a symbolic link.
  func prepare(in root: String) throws(FileError) {
    try refuseOtherPlace(in: root)
    try SafeFile.makeIgnoredFolder(path)
    try SafeFile.prepareFolder(path, for: path)
    try refuseLinks()
  }

  /// Does work while the folder is locked against other runs.
  func whileLocked<Result>(_ work: () throws -> Result) throws -> Result {
    guard let lock = try FileLock("\(path)/lock") else {
      throw FileError(
        code: .locked, path: path, problem: "another run is using this folder for its artifacts",
        hint: "wait for it to end, or use another folder with `--artifacts`"
      )
    }
    return try lock.whileHeld(work)
  }

  /// Creates the folders of a scenario's files, and removes files of earlier runs.
  func prepareFolders(for scenario: ScenarioName) throws(FileError) {
    try clear(scenario)
    for kind in [Kind.recordings, .output] {
      try SafeFile.makeFolder("\(path)/\(kind.rawValue)/\(scenario.pathComponent)")
    }
  }

  /// Removes the recordings, outputs and profile of earlier runs of a scenario.
  ///
  /// Only files with our own names are removed, and a symbolic link instead of one of our folders is rejected, so that
  /// nothing outside is touched.
  func clear(_ scenario: ScenarioName) throws(FileError) {
    for kind in Kind.allCases {
      let folder = "\(path)/\(kind.rawValue)/\(scenario.pathComponent)"
      do throws(ErrorNumber) {
        let kindFolder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY).open(kind.rawValue, O_RDONLY | O_DIRECTORY)
        let scenarioFolder = try kindFolder.open(scenario.pathComponent, O_RDONLY | O_DIRECTORY)
        for name in try scenarioFolder.names() where kind.owns(name) {
          try scenarioFolder.remove(name)
        }
      } catch let error where error.code == ENOENT {
        continue
      } catch let error where [ELOOP, ENOTDIR].contains(error.code) {
        throw FileError(
          code: .notAFile, path: folder,
          problem: "is not a folder, or is a symbolic link that leads out of the artifacts folder",
          hint: "remove it"
        )
      } catch {
        throw error.whileWriting(folder)
      }
    }
  }

  enum Kind: String, CaseIterable {
    case recordings, output, profiles

    var suffix: String {
      switch self {
      case .recordings: ".jsonl"
      case .output: ".log"
      case .profiles: ".json"
      }
    }

    /// Whether a file name is a repetition's number with the kind's suffix.
    func owns(_ name: String) -> Bool {
      guard name.hasSuffix(suffix) else { return false }
      let number = name.utf8.dropLast(suffix.utf8.count)
      return !number.isEmpty && number.count <= 6 && number.allSatisfy { (0x30...0x39).contains($0) }
    }
  }
}
