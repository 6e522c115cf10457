package import GateCore
import GateFiles
import GateReports

/// Writes a first project file, and the file of the CI system.
package struct Init {
  /// The program and its arguments; empty to look for one.
  package var command: [String] = []
  /// The path of the project file.
  package var output: String?
  /// Whether to write without a question.
  package var isConfirmed = false

  package init() {}

  /// Finds the program, runs it once if it is built, and writes files; existing files are never changed.
  ///
  /// - Returns: `pass`, or `failed` if the program fails by itself.
  /// - Throws: `DiagnosticError` if a project file exists, or nothing to run was found.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let repository = Repository(at: invocation.workingDirectory)
    let path = output ?? ProjectFile.firstName
    try ProjectFile.refuseExisting(output, from: invocation.workingDirectory)
    guard isConfirmed || invocation.console.isInteractive else {
      throw RunnerError(problem: "no terminal to ask on", hint: "write the files without a question: `highwater init --yes`")
    }
    var starter = try starter(for: repository)
    if starter.isBuilt {
      try invocation.prepareMeasuring()
      invocation.console.say("running `\(starter.scenario.target.command)` to see what it does")
      switch StarterTrial(measurer: invocation.measurer).outcome(for: starter.scenario) {
      case .works(let scenario): starter.scenario = scenario
      case .interrupted: return invocation.interruptedExit()
      case .fails(let failure):
        invocation.console.say(InitReport.text(failure, of: starter, style: invocation.console.style(onOutput: false)))
        return .failed
      }
    }
    return try write(starter, to: path, of: repository, invocation)
  }

  private func starter(for repository: Repository) throws(RunnerError) -> Starter {
    if !command.isEmpty { return repository.starter(of: command) }
    if let found = repository.starter() { return found }
    throw RunnerError(
      problem: "nothing to run was found", place: repository.folder,
      hint: "name the command: `highwater init -- COMMAND [ARG…]`")
  }

  private func write(
    _ starter: Starter,
    to path: String,
    of repository: Repository,
    _ invocation: Invocation
  ) throws -> ExitCode {
    let config = output.flatMap { ProjectFile.isFound($0) ? nil : $0 }
    let jobs = repository.ciSystems.map { StarterJob($0, of: starter, config: config) }
    let jobFiles = jobs.compactMap { job in
      job.path.map { name in
        let path = invocation.shown("\(repository.root)/\(name)")
        return InitReport.File(path: path, text: job.text, exists: SafeFile.exists(invocation.absolute(path)))
      }
    }
    let files = [InitReport.File(path: path, text: StarterFile.text(starter), exists: false)] + jobFiles
    if !isConfirmed {
      invocation.console.say(InitReport.preview(files))
      guard invocation.console.confirm("Write these files?", until: invocation.interruption) else {
        invocation.console.say("nothing was written")
        return invocation.interruptedCode ?? .pass
      }
    }
    for file in files where !file.exists { try SafeFile.write(Array(file.text.utf8), to: invocation.absolute(file.path)) }
    let options = config.map { ["--config", $0] } ?? []
    invocation.console.print(
      InitReport.text(starter, files: files, jobs: jobs, options: options, style: invocation.console.style()))
    return .pass
  }
}
