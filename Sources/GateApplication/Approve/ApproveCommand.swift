import ArgumentParser
import GateCore

struct ApproveCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Makes the last result the baseline.",
    discussion: """
      Takes the last check on this machine, or the result of another one (a CI artifact: the folder, or its result file). \
      A scenario without a baseline gets one; for another one the change is written to a file of its own beside it, so \
      that branches merge without conflicts. Commit the files: a review of the diff is the approval that the team sees. \
      A result that passes against its baseline changes nothing.

      A result is refused (exit code 3) if the scenario failed, or if it lacks peak_rss or a metric that the gate names. \
      Unless --force is given, it is refused (exit code 2) if it is of another commit or environment, or of another kind \
      of machine than its baseline, if it was compared with another build, or if the scenario has changed in the project \
      file since. --force also writes a new baseline instead of a change.

      On a new kind of machine, --measure brings what was approved on others: it builds and measures the commit that has \
      it, for all scenarios without a baseline here. So the next check judges what has changed since.

        highwater approve redis-load --reason "larger cache, agreed in #123"
        highwater approve --from artifact/.highwater
        highwater approve --fold --reason "weekly"
        highwater approve --ratchet --reason "keep the lower level"
        highwater approve --measure --build make
      """
  )

  @Argument(help: ArgumentHelp("Scenarios to approve (default: all of the result).", valueName: "name"))
  var names: [String] = []

  @Option(
    help: ArgumentHelp("A result file, instead of the last check.", valueName: "result"),
    completion: .file(extensions: ["json"]))
  var from: String?

  @Option(help: ArgumentHelp("Why the change is accepted; stored in the baseline.", valueName: "text"))
  var reason: String?

  @Flag(help: "Approve only scenarios that improved.")
  var ratchet = false

  @Flag(help: "Fold the changes approved since a baseline into it, if the result confirms them.")
  var fold = false

  @Flag(help: "Measure the approved commit, for scenarios that have no baseline for this kind of machine.")
  var measure = false

  @Option(
    help: ArgumentHelp(
      "The shell command that builds the commit of --measure, instead of the project file's `build`.",
      valueName: "command"))
  var build: String?

  @Flag(help: "Approve results that would otherwise be refused, or that already pass.")
  var force = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var environment: EnvironmentOption
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    if let reason, reason.utf8.count > 4096 { throw ValidationError("--reason takes at most 4096 bytes") }
    guard !measure || from == nil && !ratchet && !fold else {
      throw ValidationError("--measure makes its own results: it excludes --from, --ratchet and --fold")
    }
    guard build == nil || measure else {
      throw ValidationError("--build needs --measure: without it, nothing is measured")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var request = ApprovalRequest()
    request.options = project.shared
    request.options.environment = environment.name
    (request.selection, request.reason, request.forces) = (names, reason, force)
    if measure {
      var move = MoveBaselines()
      (move.request, move.build) = (request, build)
      return try move.run(in: invocation)
    }
    var approve = Approve()
    approve.request = request
    (approve.from, approve.ratchets, approve.folds) = (from, ratchet, fold)
    return try approve.run(in: invocation)
  }
}
