import ArgumentParser
import GateCore

struct LaunchesCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "launches",
    abstract: "Shows the launch records that programs with MemoryMarkers wrote.",
    discussion: """
      A program that uses `LaunchReason` keeps one file of 4 KiB, below $STATE_DIRECTORY, $XDG_STATE_HOME or \
      ~/.local/state, in the folder highwater. The program reports the reason at its next start.

        highwater launches ~/.local/state/highwater/*
      """
  )

  @Argument(help: ArgumentHelp("Launch records to show.", valueName: "file"), completion: .file())
  var files: [String]

  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    Launches(files: files).run(in: invocation)
  }
}
