import GateCore
import Glibc
import LinuxSystem

/// The folder of a repository for which `init` writes files.
struct Repository {
  /// An absolute path.
  let folder: String
  /// The folder with `.git` at or above it, in which CI systems look for their files; without one the folder itself.
  let root: String

  init(at folder: String) {
    self.folder = PathText.absolute(folder, from: "/")
    root = PathText.repositoryRoot(above: self.folder) ?? self.folder
  }

  /// What to start, by the first file that says how the program is built; nil if nothing was found.
  func starter() -> Starter? {
    ProjectKind.all.lazy.compactMap { kind -> Starter? in
      guard kind.markers.contains(where: has) else { return nil }
      let candidates = kind.candidates(self)
      return (candidates.first { $0.isBuilt(in: self) } ?? candidates.first).map { starter(of: kind.kind, $0) }
    }.first
  }

  /// The start of a command that the user named.
  func starter(of command: [String]) -> Starter {
    starter(of: .command, StartCandidate(command))
  }

  /// A path of the repository as the user would type it in ``folder``.
  func shown(_ path: String) -> String {
    PathText.relative("\(root)/\(path)", to: folder)
  }

  /// Whether a path of ``root`` leads out of it by a symbolic link.
  func leadsOut(_ path: String) -> Bool { PathText.leadsOut("\(root)/\(path)", of: root) }

  /// The path of git's attributes, if there are none yet.
  var missingAttributes: String? {
    rootHas(".git") && !rootHas(".gitattributes") ? ".gitattributes" : nil
  }

  /// Whether there is anything at a path that starts in ``root``.
  func rootHas(_ path: String) -> Bool { PathText.exists("\(root)/\(path)") }

  private func starter(of kind: Starter.Kind, _ candidate: StartCandidate) -> Starter {
    var target = Target(command: .arguments(candidate.words), workingDirectory: folder)
    target.environment = candidate.variables
    var scenario = Scenario(name: ScenarioName(name(for: candidate)), target: target)
    scenario.root = root
    return Starter(kind: kind, build: candidate.build, isBuilt: candidate.isBuilt(in: self), scenario: scenario)
  }

  /// The name of the program, or of the folder where the program is an interpreter.
  private func name(for candidate: StartCandidate) -> String {
    let names = [candidate.name, PathText.name(of: candidate.words[0]), PathText.name(of: folder), "program"]
    return names.compactMap(\.self).first(where: PlainName.isValid) ?? "program"
  }
}

// MARK: - Files

extension Repository {
  /// Larger files are not read.
  private static let mostBytes = 1 << 20

  /// Whether there is anything at a path that starts in ``folder``.
  func has(_ path: String) -> Bool { PathText.exists("\(folder)/\(path)") }

  /// The text of a file; empty if it cannot be read.
  func text(_ path: String) -> String {
    let bytes = try? SafeFile.read("\(folder)/\(path)", atMost: Self.mostBytes)
    return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Whether it is a file that may be executed.
  func isProgram(_ path: String) -> Bool {
    isFile(path) && access("\(folder)/\(path)".systemText, X_OK) == 0
  }

  func isFile(_ path: String) -> Bool {
    if case .regular? = (try? Descriptor.kind(of: "\(folder)/\(path)", followingLinks: true)) ?? nil { return true }
    return false
  }

  /// The folders in a folder, with the exception of those that others fill.
  func folders(in path: String) -> [String] {
    let skipped = ["build", "node_modules", "target", "venv"]
    let entries = (try? Descriptor.folder("\(folder)/\(path)").entries(atMost: 2000)) ?? []
    return entries.filter { $0.isFolder && !$0.name.hasPrefix(".") && !skipped.contains($0.name) }.map(\.name).sorted()
  }

  /// The names in a folder, sorted, without hidden ones; `.` is the repository.
  func names(in path: String) -> [String] {
    let names = (try? Descriptor.folder("\(folder)/\(path)").names(atMost: 2000)) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }
}

/// A command that may start the program of a repository.
struct StartCandidate: Equatable {
  var words: [String]
  /// Variables that it needs.
  var variables: [String: String] = [:]
  /// The files that must exist, relative to the repository.
  var needs: [String] = []
  var build: String?
  /// A better name for it than that of the program.
  var name: String?

  init(_ words: [String], needs: [String] = [], build: String? = nil, name: String? = nil) {
    self.words = words
    self.needs = needs
    self.build = build
    self.name = name
  }

  /// A program that a build writes to a path in the repository.
  init(program: String, build: String) {
    self.init([program.contains("/") ? program : "./\(program)"], needs: [program], build: build)
  }

  func isBuilt(in repository: Repository) -> Bool { needs.allSatisfy(repository.has) }
}
