import ArgumentParser
import GateCore

struct DoctorCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Tells what this machine permits, what would be better, and how.",
    usage: "highwater doctor [<options>]",
    discussion: """
      Tries everything that measuring needs, runs a small program some times to see how far equal runs differ, and \
      names the scenarios whose needs are not met. No project file is needed. The exit code is 2 where nothing can be \
      measured.

        highwater doctor
        highwater doctor --json - | jq -r '.properties[] | select(.status != "good") | .hint'
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
