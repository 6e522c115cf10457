import ArgumentParser
import GateCore

struct DoctorCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Reports what can be measured on this machine, and how to improve it.",
    usage: "highwater doctor [<options>]",
    discussion: """
      Tries everything that measuring needs, runs a small program several times to see how much identical runs differ, \
      and names the scenarios whose needs are not met. No project file is needed. The exit code is 2 if nothing can be \
      measured.

        highwater doctor
        highwater doctor --json - | jq -r '.properties[].hint // empty'
      """
  )

  @Option(
    help: ArgumentHelp("Also write the findings as JSON here; - is standard output.", valueName: "file"),
    completion: .file())
  var json: String?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var doctor = Doctor()
    doctor.options = project.shared
    doctor.options.json = json
    return try doctor.run(in: invocation)
  }
}
