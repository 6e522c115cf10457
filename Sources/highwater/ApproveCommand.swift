import ArgumentParser
import GateCore
import GateRunner

struct ApproveCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Makes the last result the baseline; measures nothing.",
    discussion: """
      Takes the last check on this machine, or a result file of another one (a CI artifact), and writes one baseline a \
      scenario. Commit them: a review of the diff is the approval that the team sees. Equal figures change no byte.

        highwater approve redis-load --reason "larger cache, agreed in #123"
        highwater approve --from result.json
        highwater approve --ratchet --reason "keep the lower level"
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

  @OptionGroup var project: ProjectOptions
  @OptionGroup var environment: EnvironmentOption
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    if let reason, reason.utf8.count > 4096 { throw ValidationError("--reason takes at most 4096 bytes") }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var approve = Approve()
    approve.options = project.shared
    approve.options.environment = environment.name
    approve.selection = names
    approve.from = from
    approve.reason = reason
    approve.ratchets = ratchet
    return try approve.run(in: invocation)
  }
}
