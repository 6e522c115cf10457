import ArgumentParser
import GateCore

struct BisectCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "bisect",
    abstract: "Finds the commit that made a scenario need more memory.",
    usage: "highwater bisect --good <revision> [<options>] [<name> ...]",
    discussion: """
      Builds some of the commits between two ends in git worktrees of its own, and measures each alternately with the \
      good end until it is clear where it belongs. About log2(n) + 3 commits of n are built. The checkout, baselines and \
      history stay as they are.

        highwater bisect --good v1.4 --build make
        highwater bisect --good HEAD~200 --bad main --build "make -j4" redis-load
        highwater bisect --good v1.4 --build make --all-steps

      After an interruption, the same command resumes where it stopped.

      Exit codes: 0 if the rise was found, 2 if an end is unknown or does not build, 3 if a scenario fails at an end, 4 \
      if the ends or the commits between them cannot be told apart.
      """
  )

  @Option(help: ArgumentHelp("A commit at which memory is as it should be.", valueName: "revision"))
  var good: String

  @Option(help: ArgumentHelp("A later commit at which it is too high.", valueName: "revision"))
  var bad = "HEAD"

  @Option(
    help: ArgumentHelp(
      "The shell command that builds a commit, instead of the project file's `build`.", valueName: "command"))
  var build: String?

  @Option(
    help: ArgumentHelp("The metric to search, instead of the one that rose most clearly.", valueName: "metric"),
    transform: MetricName.init(argument:))
  var metric: MetricName?

  @Flag(help: "Find every commit that holds a tenth of the rise or more, not only the largest step.")
  var allSteps = false

  @Flag(help: "Forget the answers of an earlier run of the same command.")
  var restart = false

  @OptionGroup var repetitions: RepetitionsOption

  @OptionGroup var study: StudyOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var bisect = Bisect(good: good)
    bisect.options = study.shared
    bisect.selection = study.names
    bisect.bad = bad
    (bisect.search.build, bisect.search.metric, bisect.search.restarts) = (build, metric, restart)
    bisect.search.repetitions = repetitions.count
    bisect.search.depth = allSteps ? .allSteps : .largestStep
    return try bisect.run(in: invocation)
  }
}

extension MetricName {
  /// Parses a metric as in a gate.
  fileprivate init(argument text: String) throws {
    guard let metric = MetricName(parsing: text), !metric.isCounted else {
      throw ValidationError("`\(text.prefix(40))` is not a metric that can be searched, such as peak_rss or growth")
    }
    self = metric
  }
}
