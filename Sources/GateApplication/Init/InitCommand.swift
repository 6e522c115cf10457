import ArgumentParser
import GateCore

struct InitCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Writes a first project file, and the job of the CI system.",
    usage: "highwater init [--yes] [--output <file>] [-- <command> [<argument> ...]]",
    discussion: """
      Looks for what the repository builds (Package.swift, Cargo.toml, package.json, go.mod, pyproject.toml, setup.py, \
      CMakeLists.txt, a Makefile, an executable), or takes the command after --. Runs it, to see whether it ends by \
      itself or listens on a port, and writes a scenario that runs. If \(Init.markers.joined(separator: " or ")) exists, a \
      file with a job is written as well.

        highwater init            # shows the files, and asks
        highwater init --yes
        highwater init -- ./server --port {{port}}

      Files that exist stay as they are. Without a terminal to ask on, --yes is needed: otherwise nothing is run or \
      written, and the exit code is 2.
      """
  )

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  @Flag(name: .shortAndLong, help: "Write the files without a question.")
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
