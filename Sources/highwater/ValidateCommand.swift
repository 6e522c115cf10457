import ArgumentParser
import GateCore
import GateRunner

struct ValidateCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Checks the project file and lists its scenarios; runs nothing.",
    discussion: "Every error of the file is listed with its place, not just the first; the exit code is 2 then."
  )

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func carryOut(in invocation: Invocation) throws -> GateCore.ExitCode {
    var validate = Validate()
    validate.options = project.shared
    return try validate.run(in: invocation)
  }
}
