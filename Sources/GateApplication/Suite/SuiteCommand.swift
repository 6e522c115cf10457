import ArgumentParser
import GateCore

struct SuiteCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "suite",
    abstract: "Runs a test suite unchanged, and judges the peak memory of each test.",
    usage: "highwater suite [<options>] -- <command> [<argument> ...]",
    discussion: """
      Runs the command once, with a plugin that reads and resets the high-water mark of memory at each test; the repository \
      needs no change. A test that needs more than was approved then runs alone, and that run decides, so it is not blamed \
      for what earlier tests left behind.

        highwater suite -- pytest                  # exit code 5: no baseline yet
        highwater approve                          # one file for all: commit it
        highwater suite -- pytest                  # 0 is pass, 1 is a regression
        highwater suite --limit 200MiB -- pytest   # also without a baseline

      Frameworks: pytest, go test, cargo test, swift test, node --test, JUnit (mvn or java), ctest, and with --framework googletest \
      or catch2 a program of these. Test programs that can list their tests run each one in its own process; \
      pytest, Node.js and JUnit do not.

      Exit codes: 0 pass, 1 a test needs more, 2 bad arguments, 3 a test failed, the suite crashed or no test was reported, \
      4 it could not be decided, 5 no baseline.
      """
  )

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The command that runs the tests, after --.", valueName: "command"))
  var command: [String] = []

  @Option(help: ArgumentHelp("The name of the suite (default: that of its framework).", valueName: "name"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "The framework of the tests, if the command does not name it.",
      discussion: SuiteRule.Framework.allCases.map(\.rawValue).joined(separator: ", "), valueName: "name"))
  var framework: String?

  @Option(
    help: ArgumentHelp(
      """
      The most that any test may need, such as 200MiB; or some, as in 'tests/slow/*=1GiB'. May be repeated: the last that fits \
      counts.
      """,
      valueName: "size"))
  var limit: [TestLimitArgument] = []

  @Option(help: ArgumentHelp("Stop the suite after this time, such as 2h (default: 1h).", valueName: "time"))
  var timeout: TimeArgument?

  @Option(
    help: ArgumentHelp(
      """
      Compare with the suite at this commit, which runs in a git worktree, instead of with what was approved: a branch, \
      tag or commit.
      """,
      valueName: "revision"))
  var againstRef: String?

  @Option(help: ArgumentHelp("The shell command that builds the commit of --against-ref.", valueName: "command"))
  var build: String?

  @OptionGroup var project: ProjectOptions
  @OptionGroup var environment: EnvironmentOption
  @OptionGroup var reports: ReportOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard !command.isEmpty else {
      throw ValidationError("missing command: write it after --, as in `highwater suite -- pytest`")
    }
    if let name, !PlainName.isValid(name) {
      throw ValidationError("`\(name.prefix(40))` is not a valid name of a suite: use \(PlainName.rule)")
    }
    if let framework, chosenFramework == nil {
      let known = SuiteRule.Framework.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("`\(framework.prefix(40))` is not a supported framework: use one of \(known)")
    }
    guard build == nil || againstRef != nil else {
      throw ValidationError("--build needs --against-ref: it builds that commit")
    }
  }

  private var chosenFramework: SuiteRule.Framework? { framework.flatMap(SuiteRule.Framework.init) }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var check = SuiteCheck(command: command)
    check.options = project.shared
    check.options.environment = environment.name
    reports.add(to: &check.options)
    (check.name, check.framework, check.limits) = (name, chosenFramework, limit.map(\.limit))
    if let timeout { check.timeout = timeout.duration }
    check.against = againstRef.map { ($0, build) }
    return try check.run(in: invocation)
  }
}

/// A limit of all tests, as in `200MiB`, or of those whose names fit a pattern, as in `tests/slow/*=1GiB`.
struct TestLimitArgument: ExpressibleByArgument {
  let limit: SuiteRule.Limit

  init?(argument: String) {
    // The name of a test may have the sign as well.
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard let size = parts.last.flatMap({ SizeArgument(argument: String($0)) }) else { return nil }
    let tests = parts.dropLast().joined(separator: "=")
    guard parts.count == 1 || !tests.isEmpty else { return nil }
    limit = parts.count == 1 ? .init(size.bytes) : .init(size.bytes, of: tests)
  }
}
