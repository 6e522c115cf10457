import GateCore

/// Writes a first project file, and the file of the CI system.
struct Init {
  /// The program and its arguments; empty to look for one.
  var command: [String] = []
  /// The path of the project file.
  var output: String?
  /// Whether to write without a question.
  var isConfirmed = false

  /// What must exist in a repository for a job to be written.
  package static let markers = CISystem.allCases.compactMap(\.row.job).filter { $0.file != nil }.map(\.marker)

  /// Finds the program, runs it once if it is built, and writes files; existing files are never changed.
  ///
  /// - Returns: `pass`, or `failed` if the program fails by itself.
  /// - Throws: `DiagnosticError` if a project file exists, or nothing to run was found.
  func run(in invocation: Invocation) throws -> ExitCode {
    let repository = Repository(at: invocation.workingDirectory)
    try ProjectFile.refuseExisting(output, from: invocation.workingDirectory)
    guard isConfirmed || invocation.console.isInteractive else {
      throw RunnerError(
        problem: "no terminal to ask on", hint: "write the files without a question: `highwater init --yes`")
    }
    var starter = try starter(for: repository)
    if starter.isBuilt, let code = try findScenario(of: &starter, invocation) { return code }
    return try write(starter, of: repository, invocation)
  }

  private func starter(for repository: Repository) throws(RunnerError) -> Starter {
    if !command.isEmpty { return repository.starter(of: command) }
    if let found = repository.starter() { return found }
    throw RunnerError(
      problem: "nothing to run was found", place: repository.folder,
      hint: "name the command: `highwater init -- COMMAND [ARG…]`")
  }

  /// Runs the program to find a scenario that runs.
  ///
  /// - Returns: the exit code if there is none.
  private func findScenario(of starter: inout Starter, _ invocation: Invocation) throws(RunnerError) -> ExitCode? {
    try invocation.prepareMeasuring()
    let console = invocation.console
    console.say(InitReport.announcement(of: starter))
    switch StarterTrial(measurer: invocation.measurer).outcome(for: starter.scenario) {
    case .works(let scenario):
      starter.scenario = scenario
      return nil
    case .fails(let failure):
      console.pass(InitReport.text(failure, of: starter, style: console.style(onOutput: false)))
      return .failed
    case .interrupted: return invocation.interruptedExit()
    }
  }

  private func write(_ starter: Starter, of repository: Repository, _ invocation: Invocation) throws -> ExitCode {
    let config = output.flatMap { ProjectFile.isFound($0) ? nil : $0 }
    let jobs = Self.systems(of: repository).compactMap { $0.starterJob(of: starter, config: config) }
    let first = InitReport.File(
      path: output ?? ProjectFile.firstName, text: StarterFile.text(starter), exists: false)
    let attributes = repository.missingAttributes.map {
      InitReport.File(path: repository.shown($0), text: InitReport.attributes, exists: false)
    }
    let files = [first] + jobs.compactMap { file(of: $0, in: repository) } + [attributes].compactMap(\.self)
    for path in jobs.compactMap(\.path) where repository.leadsOut(path) {
      throw RunnerError(
        problem: "leads out of the repository by a symbolic link", place: repository.shown(path),
        hint: "replace the link with a folder")
    }
    guard isConfirmed || isAgreed(to: files, invocation) else { return invocation.interruptedCode ?? .pass }
    for file in files where !file.exists {
      try SafeFile.write(Array(file.text.utf8), to: invocation.absolute(file.path))
    }
    let report = InitReport(
      starter: starter, files: files, jobs: jobs.filter { file(of: $0, in: repository)?.exists != true },
      options: config.map { ["--config", $0] } ?? [], baselines: repository.shown("baselines"))
    invocation.console.print(report.text(style: invocation.console.style()))
    return .pass
  }

  /// The CI systems whose files are in a repository.
  private static func systems(of repository: Repository) -> [CISystem] {
    CISystem.allCases.filter { $0.row.job.map { repository.rootHas($0.marker) } ?? false }
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
