import ArgumentParser
import GateCore

extension Isolation.Tracer: ExpressibleByArgument {}

struct RecordCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Measures one command, without a project file.",
    usage: "highwater record [<options>] -- <command> [<argument> ...]",
    discussion: """
      Runs the command and prints its peak, steady level, growth and a small curve. What it prints is not shown unless \
      --show-output asks for it.

        highwater record -- sqlite3 big.db 'select count(*) from t'
        highwater record --repetitions 10 -- python3 job.py
      """
  )

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  @Option(help: ArgumentHelp("The number of repetitions; with 2 or more, a warm-up runs first.", valueName: "n"))
  var repetitions = 1

  @OptionGroup var environment: EnvironmentOption
  @OptionGroup var reports: ResultOptions

  @Option(help: ArgumentHelp("Time between samples, such as 5ms.", valueName: "time"))
  var interval: TimeArgument?

  @Option(help: ArgumentHelp("Stop the command after this time, such as 10m.", valueName: "time"))
  var timeout: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "Whether to trace the command, which makes peaks exact: auto, on or off.", valueName: "auto|on|off"))
  var tracer = Isolation.Tracer.auto

  @Option(
    help: ArgumentHelp("The memory that the command and its children may use, such as 512MiB.", valueName: "size"))
  var memoryLimit: SizeArgument?

  @Flag(help: "Copy the command's output to standard error.")
  var showOutput = false

  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    try RepetitionsOption.validate(repetitions)
    guard !command.isEmpty else {
      throw ValidationError("missing command: write it after --, as in `highwater record -- ls -l`")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var record = Record(command: command)
    record.options.environment = environment.name
    reports.add(to: &record.options)
    record.repetitions = repetitions
    record.interval = interval?.duration
    record.timeout = timeout?.duration
    record.tracer = tracer
    record.memoryLimit = memoryLimit?.bytes
    record.showsOutput = showOutput
    return try record.run(in: invocation)
  }
}
