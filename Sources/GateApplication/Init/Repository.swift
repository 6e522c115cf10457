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

  /// A path of the repository as the user would type it in ``folder``.
  func shown(_ path: String) -> String {
    PathText.relative("\(root)/\(path)", to: folder)
  }

  /// Whether a path of ``root`` leads out of it by a symbolic link.
  func leadsOut(_ path: String) -> Bool { PathText.leadsOut("\(root)/\(path)", of: root) }

  static let attributes = ".gitattributes"

  /// Whether the file of git's attributes has none of baselines, or is not there.
  var needsAttributes: Bool {
    rootHas(".git") && !text("\(PathText.relative(root, to: folder))/\(Self.attributes)").contains("baselines/")
  }

  /// The path of a `.gitignore` that keeps the baselines of a scenario, if git would ignore them, and not their folder.
  func ignoresBaselines(of scenario: ScenarioName) -> String? {
    let folder = PathText.relative(self.folder, to: root)
    let baselines = self.folder == root ? "baselines" : "\(folder)/baselines"
    let file = "\(baselines)/.gitignore"
    let isIgnored = GitQuery.ignored(of: ["\(baselines)/\(scenario.pathComponent)/x.json"], in: root) != nil
    return isIgnored && !rootHas(file) && GitQuery.ignored(of: [baselines], in: root) == nil ? file : nil
  }

  /// The folder, or the file, of a program that a build has written into this repository, if git neither tracks nor ignores it.
  func unignored(_ command: Command) -> String? {
    guard let program = command.words.first, program.contains("/"), !program.hasPrefix("/") else { return nil }
    let parts = program.split(separator: "/").filter { $0 != "." }
    guard let first = parts.first, rootHas(".git"), !GitQuery.isTracked("\(folder)/\(program)"),
      GitQuery.ignored(of: [program], in: folder) == nil
    else { return nil }
    return parts.count > 1 ? "\(first)/" : String(first)
  }

  /// Whether the repository uses the CI system of a job, by a file or the address of a remote repository.
  func uses(_ job: CISystem.Job) -> Bool {
    if rootHas(job.marker) { return true }
    let configuration = (try? SafeFile.read("\(root)/.git/config", atMost: Self.mostBytes)) ?? []
    let lines = String(decoding: configuration, as: UTF8.self).split(separator: "\n")
    let addresses = lines.filter { $0.contains("url =") }
    return job.host.map { host in addresses.contains { $0.contains(host) } } ?? false
  }

  /// Whether there is anything at a path that starts in ``root``.
  func rootHas(_ path: String) -> Bool { PathText.exists("\(root)/\(path)") }

  /// The start of a program, before it was run.
  func starter(of kind: Starter.Kind, _ candidate: StartCandidate) -> Starter {
    var target = Target(command: .arguments(candidate.words), workingDirectory: folder)
    target.environment = candidate.variables
    var scenario = Scenario(name: ScenarioName(name(for: candidate)), target: target)
    scenario.root = root
    return Starter(kind: kind, scenario: scenario)
  }

  /// The name of the project or the program, or of the folder where the program only runs what is in others.
  private func name(for candidate: StartCandidate) -> String {
    let program = PathText.name(of: candidate.words[0])
    let isRunner = candidate.words.count > 1 && program.contains(Self.runners)
    let names = [candidate.name, isRunner ? nil : program, PathText.name(of: folder), "program"]
    return names.compactMap(\.self).first(where: PlainName.isValid) ?? "program"
  }

  /// Programs that run what their arguments name.
  private static var runners: Regex<Substring> {
    #/^(?:python[0-9.]*|java|node|deno|bun|ruby|perl|php|dotnet|bash|sh|env|gunicorn|uvicorn|flask|hypercorn|npm|npx)$/#
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

  /// The programs of machine code in a folder and up to three levels below it, the uppermost first.
  func programs(in path: String) -> [String] {
    paths(below: path, levels: 4).filter { isProgram($0) && isMachineCode($0) && !$0.contains(".so") }
  }

  /// The files below a folder with an ending, relative to it.
  func files(below path: String, endingIn ending: String) -> [String] {
    paths(below: path, levels: 12).filter { $0.hasSuffix(ending) }.map { String($0.dropFirst(path.utf8.count + 1)) }
  }

  /// The paths in a folder and below, the uppermost first; `.` is the repository.
  func paths(below path: String, levels: Int) -> [String] {
    let prefix = path == "." ? "" : "\(path)/"
    let inside = levels > 1 ? folders(in: path).flatMap { paths(below: prefix + $0, levels: levels - 1) } : []
    return (names(in: path).map { prefix + $0 } + inside).enumerated().sorted { one, other in
      let depths = [one, other].map { $0.element.count { $0 == "/" } }
      return (depths[0], one.offset) < (depths[1], other.offset)
    }.map(\.element)
  }

  /// Whether a file begins as ELF files do.
  private func isMachineCode(_ path: String) -> Bool {
    guard let file = try? Descriptor.open("\(folder)/\(path)", O_RDONLY | O_CLOEXEC) else { return false }
    return (try? file.readChunk(4)) == [0x7f] + Array("ELF".utf8)
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
  /// A better name for it than that of the program.
  var name: String?

  init(_ words: [String], needs: [String] = [], name: String? = nil) {
    self.words = words
    self.needs = needs
    self.name = name
  }

  /// A program that a build writes to a path in the repository.
  init(program: String) {
    self.init([program.contains("/") ? program : "./\(program)"], needs: [program])
  }

  func isBuilt(in repository: Repository) -> Bool { needs.allSatisfy(repository.has) }
}
