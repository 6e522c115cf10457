import ArgumentParser
import GateCore
import GateRunner

struct ValidateCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Checks the project file and lists its scenarios; runs nothing.",
    usage: "highwater validate [<options>]",
    discussion:
      "Lists every error of the file with its place, and unusable baselines; the exit code is then 2."
  )

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var validate = Validate()
    validate.options = project.shared
    return try validate.run(in: invocation)
  }
}
