import ArgumentParser
import GateCore

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

  @Flag(help: "Print the JSON Schema of project files, for editors, and do nothing else.")
  var schema = false

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var validate = Validate()
    validate.options = project.shared
    validate.printsSchema = schema
    return try validate.run(in: invocation)
  }
}
