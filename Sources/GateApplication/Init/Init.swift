import GateCore

/// Writes a first project file, and the file of the CI system.
struct Init {
  /// The program and its arguments; empty to look for one.
  var command: [String] = []
  /// The path of the project file.
  var output: String?
  /// Whether to write without a question.
  var isConfirmed = false

  /// What shows that a repository uses a CI system for which a job is written.
  package static let markers = CISystem.allCases.compactMap(\.row.job).filter { $0.file != nil }.map(\.marker)

  /// Builds the program, runs it, and writes files; existing files are never changed.
  ///
  /// Where a project file exists, nothing is run, and only what else is missing is written, as the job of a CI system that
  /// came later.
  ///
  /// - Returns: `pass`, or `failed` if the build or the program fails by itself.
  /// - Throws: `DiagnosticError` if a project file exists and nothing else is missing, or if there is nothing to run.
  func run(in invocation: Invocation) throws -> ExitCode {
    let repository = Repository(at: invocation.workingDirectory)
    let addition = try addition(to: repository)
    guard isConfirmed || invocation.console.isInteractive else {
      throw RunnerError(
        problem: "not a terminal", hint: "use `highwater init --yes` to write the files without asking")
    }
    if let addition { return try write(addition, invocation) }
    try invocation.prepareMeasuring()
    var search = StarterSearch(in: repository, invocation)
    let starter = search.starter(of: command)
    if invocation.isInterrupted { return invocation.interruptedExit() }
    if let starter {
      var report = try draft(of: starter, for: repository, isNew: true)
      // What was likelier may be the service, which lacks only a dependency.
      if starter.scenario.ready == nil { report.failed = search.failed }
      return try write(report, invocation)
    }
    guard let failed = search.failed else {
      throw RunnerError(
        problem: "no program found to run", place: repository.folder,
        hint: "name the command: `highwater init -- COMMAND [ARG…]`")
    }
    let console = invocation.console
    console.pass(InitReport.text(failed, style: console.style(onOutput: false)))
    return .failed
  }

  /// What is missing beside the project file of a repository; nil without a project file.
  private func addition(to repository: Repository) throws -> InitReport? {
    guard output == nil, command.isEmpty, repository.has(ProjectFile.firstName) else {
      try ProjectFile.refuseExisting(output, from: repository.folder)
      return nil
    }
    let kind = ProjectKind.all.first { $0.isPresent(repository) }?.kind
    // Of the program, which is not run, the files say nothing.
    let starter = repository.starter(of: kind ?? .command, StartCandidate([Tool.name]))
    let report = try draft(of: starter, for: repository, isNew: false)
    if report.files.allSatisfy(\.exists) { try ProjectFile.refuseExisting(output, from: repository.folder) }
    return report
  }

  /// The files of a repository, and what to tell of them.
  private func draft(of starter: Starter, for repository: Repository, isNew: Bool) throws -> InitReport {
    let config = output.flatMap { ProjectFile.isFound($0) ? nil : $0 }
    let jobs = Self.systems(of: repository).compactMap { $0.starterJob(of: starter, config: config) }
    let first = InitReport.File(
      path: output ?? ProjectFile.firstName, text: isNew ? StarterFile.text(starter) : "", exists: !isNew)
    let attributes =
      repository.needsAttributes
      ? InitReport.File(
        path: repository.shown(Repository.attributes), text: InitReport.attributes,
        exists: repository.rootHas(Repository.attributes)) : nil
    let kept = repository.ignoresBaselines(of: starter.scenario.name).map {
      InitReport.File(path: repository.shown($0), text: InitReport.keptBaselines, exists: false)
    }
    let drafts = jobs.map { (job: $0, file: file(of: $0, in: repository)) }
    for path in jobs.compactMap(\.path) where repository.leadsOut(path) {
      throw RunnerError(
        problem: "leads out of the repository by a symbolic link", place: repository.shown(path),
        hint: "replace the link with a folder")
    }
    return InitReport(
      starter: isNew ? starter : nil,
      files: [first] + drafts.compactMap(\.file) + [attributes, kept].compactMap(\.self),
      jobs: drafts.filter { $0.file?.exists != true }.map(\.job), options: config.map { ["--config", $0] } ?? [],
      baselines: repository.rootHas(".git") ? repository.shown("baselines") : nil,
      unignored: starter.build == nil ? nil : repository.unignored(starter.scenario.target.command))
  }

  private func write(_ report: InitReport, _ invocation: Invocation) throws -> ExitCode {
    guard isConfirmed || isAgreed(to: report.files, invocation) else { return invocation.interruptedCode ?? .pass }
    for file in report.files where !file.exists {
      try SafeFile.write(Array(file.text.utf8), to: invocation.absolute(file.path))
    }
    invocation.console.print(report.text(style: invocation.console.style()))
    return .pass
  }

  /// The CI systems whose files are in a repository.
  private static func systems(of repository: Repository) -> [CISystem] {
    CISystem.allCases.filter { $0.row.job.map(repository.uses) ?? false }
  }

  private func file(of job: StarterJob, in repository: Repository) -> InitReport.File? {
    job.path.map(repository.shown).map { InitReport.File(path: $0, text: job.text, exists: repository.has($0)) }
  }

  private func isAgreed(to files: [InitReport.File], _ invocation: Invocation) -> Bool {
    let console = invocation.console
    console.say(InitReport.preview(files))
    if console.confirm("Write these files?", until: invocation.interruption) { return true }
    console.say("nothing was written")
    return false
  }
}
