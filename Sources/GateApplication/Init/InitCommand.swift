import ArgumentParser
import GateCore

struct InitCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes a first project file and a CI job.",
    usage: "highwater init [--yes] [--output <file>] [-- <command> [<argument> ...]]",
    discussion: """
      Looks for what the repository builds (Swift, Cargo, npm, Go, Maven, Gradle, Python, CMake, Meson, Make, autotools, a jar, an \
      executable, a Dockerfile), or uses the command after --. Builds and runs it, to see whether it ends by itself or listens on a \
      port, and writes a scenario that works. For a repository with \(Init.markers.joined(separator: " or ")), or on GitHub \
      or GitLab, it also writes the job.

        highwater init            # shows the files, and asks
        highwater init --yes
        highwater init -- ./server --port {{port}}

      Existing files are left unchanged; with a project file only what else is missing is written. Without a terminal, --yes \
      is required; otherwise nothing is run or written, and the \
      exit code is 2.
      """
  )

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  @Flag(name: .shortAndLong, help: "Write the files without asking.")
  var yes = false

  @Option(
    help: ArgumentHelp("The project file to write (default: highwater.yml).", valueName: "file"),
    completion: .file(extensions: ["yml", "yaml"])
  )
  var output: String?

  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var initialization = Init()
    initialization.command = command
    initialization.output = output
    initialization.isConfirmed = yes
    return try initialization.run(in: invocation)
  }
}
