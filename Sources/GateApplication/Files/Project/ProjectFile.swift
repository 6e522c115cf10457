import GateCore

/// The project file, `highwater.yml`.
enum ProjectFile {
  /// The file names in order of precedence (project-file.md).
  static let names = ["highwater.yml", ".highwater.yml", "ci/highwater.yml"]

  /// Finds the project file.
  ///
  /// It is searched in the working directory, then in each parent up to the repository's root. Outside a repository
  /// parents are not searched: a file in `/tmp` or `/` may belong to anyone.
  ///
  /// - Parameters:
  ///   - explicit: the path given by the user; it is not searched for, and need not exist.
  ///   - workingDirectory: an absolute path.
  /// - Returns: an absolute path.
  /// - Throws: if nothing was found, with a hint.
  static func locate(
    explicit: String?,
    from workingDirectory: String
  ) throws(ProjectError) -> String {
    if let explicit { return PathText.absolute(explicit, from: workingDirectory) }
    let start = PathText.absolute(workingDirectory, from: "/")
    let root = PathText.repositoryRoot(above: start) ?? start
    var current: String? = start
    while let folder = current {
      for name in names {
        let path = PathText.absolute(name, from: folder)
        if PathText.exists(path) { return path }
      }
      current = folder == root ? nil : PathText.parent(of: folder)
    }
    let places = root == start ? "in `\(Shown.path(start))`" : "from `\(Shown.path(start))` up to `\(Shown.path(root))`"
    throw ProjectError(
      Diagnostic(
        problem: "no project file \(places)",
        hint: "`highwater init` writes a `highwater.yml`; `--config FILE` names another file"
      )
    )
  }

  /// The name that a new project file gets.
  static let firstName = names[0]

  /// Whether ``locate(explicit:from:)`` finds a file of this name by itself.
  static func isFound(_ path: String) -> Bool { names.contains(path) }

  /// Checks that a new project file, at a path or at the usual place, replaces or shadows no other.
  static func refuseExisting(_ path: String?, from workingDirectory: String) throws(ProjectError) {
    let found = try? locate(explicit: path, from: workingDirectory)
    guard let found, PathText.exists(found) else { return }
    throw ProjectError(
      Diagnostic(
        place: PathText.shown(found, from: workingDirectory), problem: "already exists; not overwriting it",
        hint: "name another file: `--output FILE`"
      ))
  }

  /// Reads a project file and the files that it includes.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the working directory.
  ///   - environment: the variables for `${NAME}`; nil if it stays as it is, for a file that a stranger may have written.
  ///   - webhooksNeeded: whether an unset variable in a webhook is an error.
  /// - Returns: the project, with absolute paths and all defaults.
  /// - Throws: all diagnostics of the files, not only the first.
  static func load(
    _ path: String,
    environment: [String: String]?,
    webhooksNeeded: Bool = true
  ) throws(ProjectError) -> Project {
    try load(
      path,
      environment: environment,
      webhooksNeeded: webhooksNeeded,
      workingDirectory: PathText.workingDirectory
    )
  }

  static func load(
    _ path: String,
    environment: [String: String]?,
    webhooksNeeded: Bool = true,
    workingDirectory: String
  ) throws(ProjectError) -> Project {
    let file = PathText.absolute(path, from: workingDirectory)
    let name = PathText.shown(path, from: workingDirectory)
    guard let value = try YAMLDocument.parse(ProjectText.read(file, name: name), name: name) else {
      throw ProjectError(Diagnostic(place: name, problem: "the file is empty", hint: "start it with `version: 1`"))
    }
    let folder = PathText.parent(of: file) ?? "/"
    let findings = Findings()
    findings.willRead(name)
    var context = ReadingContext(
      findings: findings,
      root: PathText.repositoryRoot(above: folder) ?? folder,
      environment: environment
    )
    context.needsWebhooks = webhooksNeeded
    let reader = ProjectReader(context: context, workingDirectory: workingDirectory)
    let project = reader.project(value, file: file)
    guard let project, findings.isEmpty else { throw ProjectError(findings.sorted) }
    return project
  }
}

extension Project {
  /// Whether the folder of baselines leads out of the repository, by its path or by a symbolic link.
  var hasBaselinesOutside: Bool { PathText.leadsOut(baselines, of: root) }

  /// The path relative to ``root`` of a file that messages name: with an absolute path, or relative to the working
  /// directory.
  func repositoryPath(of file: String, from workingDirectory: String) -> String {
    PathText.relative(PathText.absolute(file, from: workingDirectory), to: root)
  }
}
