import FoundationEssentials
import GateCore

extension HistoryLocation {
  /// Opens the history for adding runs, creates it if there is none, and warns if it replaced an unusable file.
  func openToAdd(for use: History.Use, root: String? = nil, in invocation: Invocation) throws -> History {
    switch self {
    case .file(let path):
      try SafeFile.makeIgnoredFolder(SafeFile.folder(of: path))
      try HistoryFile(path: path).refuseTracked()
      let history = try History.open(path, at: invocation.now())
      warnOfRenamedFile(by: history, in: invocation)
      return history
    case .database(let address):
      guard let history = try History.open(address, project: address.project(in: root, invocation), for: use) else {
        preconditionFailure("a database that is opened for adding runs gets tables")
      }
      return history
    }
  }

  /// Opens a history that exists, for reading or for removing runs.
  func openExisting(toChange changes: Bool, in invocation: Invocation) throws -> History {
    let history =
      switch self {
      case .file(let path): try Self.existing(path, toChange: changes)
      case .database(let address):
        try History.open(address, project: address.project(in: nil, invocation), for: changes ? .pruning : .reading)
      }
    guard let history else {
      throw RunnerError(
        problem: "no history\(noHistoryDetail(in: invocation))", place: invocation.shown(shown),
        hint: "`\(Tool.name) check` creates it; `\(Tool.name) history import FILE` adds the runs of other machines")
    }
    return history
  }

  private static func existing(_ path: String, toChange changes: Bool) throws -> History? {
    try HistoryFile(path: path).refuseTracked()
    return try changes ? History.openExisting(path) : History.openToRead(path)
  }

  private func noHistoryDetail(in invocation: Invocation) -> String {
    guard case .database(let address) = self else { return "" }
    return " of the project `\(address.project(in: nil, invocation))`"
  }

  func warnOfRenamedFile(by history: History, in invocation: Invocation) {
    guard let aside = history.unusableFile else { return }
    invocation.console.warn(
      "\(invocation.shown(history.path)) was damaged or not a history: renamed to \(invocation.shown(aside)), and a new "
        + "history was created")
  }
}

extension DatabaseAddress {
  /// The name of the project, from the project file, or else ``Invocation/projectName(in:)``.
  fileprivate func project(in root: String?, _ invocation: Invocation) -> String {
    if let project, !project.isEmpty { return project }
    return invocation.projectName(in: root ?? invocation.workingDirectory)
  }
}

extension Invocation {
  /// The name of the project in a folder, from the variable `HIGHWATER_PROJECT`, the repository's origin, or else the name
  /// of the folder.
  func projectName(in root: String) -> String {
    if let name = variables["HIGHWATER_PROJECT"], !name.isEmpty { return name }
    return GitQuery.repositoryName(in: root) ?? root.split(separator: "/").last.map(String.init) ?? "/"
  }
}

extension Invocation {
  /// The history that an option names; in a database, that of a project.
  func history(_ text: String, ofProject project: String? = nil) throws -> HistoryLocation {
    do throws(DatabaseURL.Fault) {
      guard var address = try DatabaseURL.address(text, environment: variables) else { return .file(absolute(text)) }
      address.project = project
      return .database(address)
    } catch {
      let (problem, hint) = error.diagnostic
      throw RunnerError(problem: problem, place: "--history", hint: hint)
    }
  }
}

extension SharedOptions {
  /// Where the history is, from `--history` or else from the project file.
  func historyLocation(in invocation: Invocation) throws -> HistoryLocation {
    if let history, history != "off" {
      guard case .database(var address) = try invocation.history(history) else {
        return .file(invocation.absolute(history))
      }
      address.project = projectName(in: invocation)
      return .database(address)
    }
    let project = try loadProject(in: invocation, webhooksNeeded: false)
    guard let location = project.history else {
      throw RunnerError(
        problem: "the history is switched off (`history: off`)", place: project.file,
        hint: "name a file with `--history FILE`"
      )
    }
    return location
  }

  /// The name of the project in its file, if there is one.
  private func projectName(in invocation: Invocation) -> String? {
    var options = self
    options.history = nil
    return (try? options.loadProject(in: invocation, webhooksNeeded: false))?.history?.project
  }
}

extension HistoryFile {
  /// Rejects a file that git tracks, or one beside it: a branch of the repository has put it there, with any runs.
  fileprivate func refuseTracked() throws(HistoryError) {
    let (folder, names) = (SafeFile.folder(of: path), names)
    guard let tracked = GitQuery.tracked(names, in: folder).min() else { return }
    throw HistoryError(
      code: .unavailable, path: "\(folder)/\(tracked)",
      problem: "is not used: git tracks it, so a commit may have written it",
      hint: "remove it from the repository (`git rm --cached`), or name another file as `history`")
  }
}
