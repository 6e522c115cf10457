import ArgumentParser
import GateCore

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists, imports, exports and prunes the runs in the history, and acknowledges events.",
    discussion: """
      Each check adds its run to the project's history, one SQLite file (`history:` in the project file, or --history). \
      As JSON lines it goes from machine to machine: order does not matter, and importing a run twice has no effect.

        highwater history list redis-load --limit 50
        highwater history export > runs.jsonl
        highwater history import runs.jsonl artifacts/*/result.json
        highwater history import --format asv results
        highwater history list --events
        highwater history acknowledge 4f2a91c0d --reason "the new cache"
        highwater history prune --keep 500
      """,
    subcommands: [
      HistoryListCommand.self, HistoryAcknowledgeCommand.self, HistoryImportCommand.self, HistoryExportCommand.self,
      HistoryPruneCommand.self,
    ]
  )
}

struct HistoryListCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the latest runs or events, or those of the named scenarios.",
    usage: "highwater history list [<options>] [<name> ...]",
    discussion:
      "With --events and --verbose each event has its largest changes, and commands that search for its commit.")

  @Argument(help: ArgumentHelp("Scenarios whose runs to list.", valueName: "name"))
  var names: [String] = []

  @Flag(help: "List the events of the trend: what changed many scenarios at once.")
  var events = false

  @Option(parsing: .unconditional, help: ArgumentHelp("How many runs or events to list.", valueName: "n"))
  var limit = 20

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    if events { return try EventList(names: names, limit: limit, options: project.shared).run(in: invocation) }
    return try HistoryUse(.list(names: names, limit: limit), project.shared).run(in: invocation)
  }
}

struct HistoryAcknowledgeCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Records that an event needs no attention, and why.",
    usage: "highwater history acknowledge [<options>] --reason <text> <event>",
    discussion: """
      The event stays in the list, with the reason and your name, but no longer needs attention. They are stored in \
      BASELINES/events.json, which belongs into the repository; to take it back, remove the entry.
      """
  )

  @Argument(
    help: ArgumentHelp(
      "The event as `history list --events` names it, its commit, or the first digits.", valueName: "event"))
  var event: String

  // Required, but a misspelled option is reported before a missing one only if the parser does not require it.
  @Option(help: ArgumentHelp("Why it needs no attention.", valueName: "text"))
  var reason: String?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard !event.isEmpty else { throw ValidationError("the event must not be empty") }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    guard let reason, !reason.allSatisfy(\.isWhitespace) else {
      throw RunnerError(
        problem: "the reason is missing or blank", hint: "add `--reason TEXT`: why the event needs no attention")
    }
    return try HistoryAcknowledgement(event: event, reason: reason, options: project.shared).run(in: invocation)
  }
}

struct HistoryImportCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Adds runs from JSON lines and result files, or from the results of another tool.",
    usage: "highwater history import [<options>] <file> ...",
    discussion: "A line that cannot be read is reported with its place; the others are added, and the exit code is 2."
  )

  @Argument(
    help: ArgumentHelp(
      "JSON lines of `history export`, or result files; - is standard input. With --format also folders.",
      valueName: "file"),
    completion: .file(extensions: ["jsonl", "json"]))
  var files: [String]

  @Option(help: ArgumentHelp(ForeignTool.help, valueName: "format"))
  var format: ForeignTool?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var addition = HistoryImport(files: files)
    addition.format = format
    addition.options = project.shared
    return try addition.run(in: invocation)
  }
}

struct HistoryExportCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes all runs as JSON lines, or the latest one and the events as OpenMetrics.",
    usage: "highwater history export [<options>]",
    discussion: "Lines (schema highwater.run/2) are ordered by time; equal histories give equal bytes."
  )

  @Flag(help: "Write the latest run and the events as OpenMetrics text, as Prometheus reads it.")
  var openmetrics = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    try HistoryUse(openmetrics ? .exportOpenMetrics : .export, project.shared).run(in: invocation)
  }
}

struct HistoryPruneCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Removes old runs and shrinks the file.",
    usage: "highwater history prune [<options>]")

  @Option(parsing: .unconditional, help: ArgumentHelp("Keep the latest N runs.", valueName: "n"))
  var keep: Int?

  @Option(parsing: .unconditional, help: ArgumentHelp("Keep the runs of the last DAYS days.", valueName: "days"))
  var keepDays: Int?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard keep == nil || keepDays == nil else {
      throw ValidationError("--keep and --keep-days are mutually exclusive")
    }
    guard (1...Self.most).contains(keep ?? keepDays ?? 1) else {
      throw ValidationError(
        "--keep and --keep-days take a number from 1 to \(Self.most); to remove all runs, delete the history")
    }
  }

  /// The most runs or days.
  private static let most = 1_000_000_000

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    guard let task: HistoryUse.Task = keep.map({ .keep($0) }) ?? keepDays.map({ .keepDays($0) }) else {
      throw RunnerError(problem: "the runs to keep are missing", hint: "add `--keep N` or `--keep-days DAYS`")
    }
    return try HistoryUse(task, project.shared).run(in: invocation)
  }
}
