import ArgumentParser
import GateCore

struct CheckCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "The gate: runs scenarios and judges them against their baselines.",
    discussion: """
      Runs all scenarios, or the named ones. A NAME is a scenario, a matrix without its values, a pattern with *, \
      or tag:NAME.

        highwater check                       # all
        highwater check redis-load tag:fast   # some
        highwater check --json - | jq .verdict
        highwater check --junit junit.xml --report codequality=quality.json
        highwater check --against build-main/server        # two builds in turn
        highwater check --against "PYTHONPATH=old" api     # other variables
        highwater check --against-ref main --build make    # another commit

      The result is stored in ARTIFACTS/result.json; `highwater approve` makes it the baseline.
      """
  )

  @Argument(help: ArgumentHelp("Scenarios to run.", valueName: "name"))
  var names: [String] = []

  @OptionGroup var project: ProjectOptions
  @OptionGroup var environment: EnvironmentOption
  @OptionGroup var repetitions: RepetitionsOption
  @OptionGroup var reports: ReportOptions

  @OptionGroup var comparison: ComparisonOptions
  @OptionGroup var build: BuildOption

  @Option(
    help: ArgumentHelp(
      "How many scenarios to measure at the same time; the project file's `jobs`, or 1.", valueName: "n"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Run only the scenarios of one of several jobs, such as 2/4; auto asks the CI system. `merge` combines the results.",
      valueName: "i/n"),
    transform: ShardOption.init(parsing:))
  var shard: ShardOption?

  @Flag(
    help: "Count a scenario without a baseline in any environment as skipped instead of failing with 5, for 14 days.")
  var allowMissingBaseline = false

  @OptionGroup var delivery: DeliveryOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    if let jobs, !(1...Project.mostJobs).contains(jobs) {
      throw ValidationError("--jobs must be between 1 and \(Project.mostJobs)")
    }
    guard !(shard != nil && delivery.requireDelivery) else {
      throw ValidationError("--shard sends nothing: give --require-delivery to `highwater merge`")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var check = Check()
    check.options = project.shared
    check.options.skipsBuild = build.noBuild
    check.options.environment = environment.name
    reports.add(to: &check.options)
    check.selection = names
    check.repetitions = repetitions.count
    check.against = comparison.source
    check.jobs = jobs
    check.shard = shard
    check.notifies = !delivery.noNotify
    check.requiresDelivery = delivery.requireDelivery
    check.allowsMissingBaseline = allowMissingBaseline
    return try check.run(in: invocation)
  }
}

extension ShardOption {
  /// Parses a shard and the number of shards, as in `2/4`, or `auto`.
  fileprivate init(parsing text: String) throws {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    if text == "auto" {
      self = .auto
    } else if numbers.count == 2, let index = numbers[0], let count = numbers[1], count >= 1, 1...count ~= index {
      self = .part(index: index, of: count)
    } else {
      throw ValidationError("`\(text.prefix(40))` is not a shard: write which one of how many, as in 2/4, or auto")
    }
  }
}
