package import ArgumentParser
package import GateCore

/// A command that runs a use case.
package protocol UseCaseCommand: ParsableCommand {
  var console: ConsoleOptions { get }
  func execute(in invocation: Invocation) throws -> GateCore.ExitCode
}

extension Console.Colour: ExpressibleByArgument {}

/// The amount and the colour of output.
package struct ConsoleOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print only failures and the verdict.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Show every repetition and every metric.")
  var verbose = false

  @Option(help: ArgumentHelp("Colour the output: auto, always or never. NO_COLOR is honoured.", valueName: "when"))
  var color = Console.Colour.auto

  package init() {}

  package func validate() throws {
    guard !(quiet && verbose) else { throw ValidationError("--quiet and --verbose are mutually exclusive") }
  }

  package func console(variables: [String: String]) -> Console {
    Console(volume: quiet ? .quiet : verbose ? .verbose : .normal, colour: color, variables: variables)
  }
}

/// The locations of the project's files.
struct ProjectOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The project file (default: highwater.yml, .highwater.yml or ci/highwater.yml, here or in a parent folder).",
      valueName: "file"
    ),
    completion: .file(extensions: ["yml", "yaml"])
  )
  var config: String?

  @Option(help: ArgumentHelp("The folder of approved baselines.", valueName: "folder"), completion: .directory)
  var baselines: String?

  @Option(
    help: ArgumentHelp("The folder for results, recordings and outputs.", valueName: "folder"), completion: .directory)
  var artifacts: String?

  @Option(
    help: ArgumentHelp("The history: a file, or the URL of a PostgreSQL database; off disables it.", valueName: "file"),
    completion: .file())
  var history: String?

  var shared: SharedOptions {
    var options = SharedOptions()
    options.config = config
    options.baselines = baselines
    options.artifacts = artifacts
    options.history = history
    return options
  }
}

/// The class of machines of this machine.
struct EnvironmentOption: ParsableArguments {
  @Option(
    name: .customLong("environment"),
    help: ArgumentHelp(
      "A name for this class of machines (default: derived from the fingerprint).", valueName: "name")
  )
  var name: String?

  func validate() throws {
    if let name, !PlainName.isValid(name) {
      throw ValidationError("`\(name.prefix(40))` is not a valid environment name: use \(PlainName.rule)")
    }
  }
}

/// What the commands share that measure scenarios without judging them: the scenarios, and the files of the study.
struct StudyOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Scenarios to run.", valueName: "name"))
  var names: [String] = []

  @Option(
    help: ArgumentHelp("Also write the findings as JSON here; - is standard output.", valueName: "file"),
    completion: .file())
  var json: String?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var environment: EnvironmentOption

  var shared: SharedOptions {
    var options = project.shared
    options.environment = environment.name
    options.json = json
    return options
  }
}

/// The paths of a result's files.
struct ResultOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Also write the result file here; - is standard output.", valueName: "file"), completion: .file()
  )
  var json: String?

  @Option(
    help: ArgumentHelp("Write an HTML page with the memory curves; - is standard output.", valueName: "file"),
    completion: .file(extensions: [ReportFormat.html.fileExtension])
  )
  var html: String?

  func validate() throws {
    try validate([])
  }

  /// Checks these files together with other reports.
  func validate(_ others: [ReportFile]) throws {
    var options = SharedOptions()
    add(to: &options)
    options.reports = others
    let files = options.reportFiles
    for (index, file) in files.enumerated() {
      guard let other = files[..<index].first(where: { $0.path == file.path }) else { continue }
      let place = file.isStandardOutput ? "to standard output" : "to `\(file.path)`"
      throw ValidationError("\(other.option) and \(file.option) cannot both be written \(place)")
    }
  }

  /// Adds the paths to the options of a use case.
  func add(to options: inout SharedOptions) {
    options.json = json
    options.html = html
  }
}

/// The paths of a result's files and of the reports for CI systems.
struct ReportOptions: ParsableArguments {
  @OptionGroup var result: ResultOptions

  @Option(
    help: ArgumentHelp("Write a JUnit XML report; - is standard output.", valueName: "file"),
    completion: .file(extensions: [ReportFormat.junit.fileExtension])
  )
  var junit: String?

  @Option(
    help: ArgumentHelp(
      "Write a Markdown report, as for a comment on a pull request; - is standard output.", valueName: "file"),
    completion: .file(extensions: [ReportFormat.markdown.fileExtension])
  )
  var markdown: String?

  @Option(
    help: ArgumentHelp(
      "Write a report in one of these formats; - is standard output. May be repeated.",
      discussion: ReportFile.formatList, valueName: "format=file"),
    completion: .list(ReportFormat.allCases.map { "\($0.rawValue)=" }), transform: ReportFile.init(parsing:)
  )
  var report: [ReportFile] = []

  func validate() throws {
    try result.validate(files)
  }

  func add(to options: inout SharedOptions) {
    result.add(to: &options)
    options.reports = files
  }

  private var files: [ReportFile] {
    [junit.map { ReportFile(.junit, path: $0) }, markdown.map { ReportFile(.markdown, path: $0) }].compactMap(\.self)
      + report
  }
}

extension ReportFile {
  private static let formatNames = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")

  fileprivate static let formatList = ReportFormat.allCases.map { "\($0.rawValue): \($0.purpose)" }
    .joined(separator: "\n")

  /// Parses a format and a file, as in `junit=out.xml`.
  fileprivate init(parsing text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let format = ReportFormat(rawValue: parts[0]) else {
      throw ValidationError("`\(parts[0].prefix(40))` is not a format of reports: use one of \(Self.formatNames)")
    }
    guard parts.count == 2, !parts[1].isEmpty else {
      throw ValidationError("`--report \(format.rawValue)` needs a file, as in `--report \(format.rawValue)=FILE`")
    }
    self.init(format, path: parts[1])
  }

  /// The option that gives this file.
  fileprivate var option: String {
    ([.json, .html, .junit, .markdown].contains(format) ? "--" : "--report ") + format.rawValue
  }
}

/// Whether the checkout is built first.
struct BuildOption: ParsableArguments {
  @Flag(help: "Measure what is built already, without running the project file's `build`.")
  var noBuild = false
}

/// Another build to compare with, instead of the baselines.
struct ComparisonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Compare with another build, run alternately with this one, instead of the baselines: a program, a command, or \
      NAME=VALUE words that set variables.
      """,
      valueName: "command")
  )
  var against: String?

  @Option(
    help: ArgumentHelp(
      "Compare with another commit, checked out in a git worktree, instead of the baselines: a branch, tag or commit.",
      valueName: "revision")
  )
  var againstRef: String?

  @Option(
    help: ArgumentHelp(
      "The shell command that builds the commit of --against-ref, instead of the project file's `build`.",
      valueName: "command"))
  var build: String?

  func validate() throws {
    guard against == nil || againstRef == nil else {
      throw ValidationError("--against and --against-ref are mutually exclusive")
    }
    guard build == nil || againstRef != nil else {
      throw ValidationError(
        "--build needs --against-ref: it builds that commit; `build` in the project file builds this checkout")
    }
  }

  var source: ComparisonSource? {
    againstRef.map { .revision($0, build: build) } ?? against.map { .command($0) }
  }
}

/// Whether webhooks are sent, and must arrive.
struct DeliveryOptions: ParsableArguments {
  @Flag(help: "Send no webhooks; their environment variables may be unset.")
  var noNotify = false

  @Flag(help: "Exit with code 6 if the check passed but a webhook could not be delivered.")
  var requireDelivery = false

  func validate() throws {
    guard !(noNotify && requireDelivery) else {
      throw ValidationError("--no-notify and --require-delivery are mutually exclusive")
    }
  }
}

/// A number of repetitions.
struct RepetitionsOption: ParsableArguments {
  @Option(
    name: .customLong("repetitions"),
    help: ArgumentHelp("The number of repetitions, instead of what the project file says.", valueName: "n"))
  var count: Int?

  func validate() throws {
    if let count { try Self.validate(count) }
  }

  static func validate(_ count: Int) throws {
    guard (1...Repetitions.most).contains(count) else {
      throw ValidationError("--repetitions takes a number from 1 to \(Repetitions.most)")
    }
  }
}

/// A duration, as in the project file.
struct TimeArgument: ExpressibleByArgument {
  let duration: Duration

  init?(argument: String) {
    guard let duration = try? Duration(parsing: argument), duration > .zero else { return nil }
    self.duration = duration
  }
}

/// A size with its unit, as in `512MiB`.
struct SizeArgument: ExpressibleByArgument {
  let bytes: Bytes

  init?(argument: String) {
    guard let bytes = try? Bytes(parsing: argument), bytes > .zero else { return nil }
    self.bytes = bytes
  }
}
