import Foundation
import Testing

@Suite("The command line")
struct CommandLineTests {
  @Test("`--version` prints name and version, the commit, and what is built in")
  func version() throws {
    let outcome = try Highwater.run("--version", in: TemporaryProject())
    #expect(outcome.output.hasPrefix("highwater 0.1.0\ncommit: "))
    #expect(outcome.output.contains("\ninteractive charts: "))
    #expect(outcome.code == 0)
    #expect(outcome.errors.isEmpty)
  }

  @Test(
    "Help goes to standard output, in 80 columns, with exit code 0",
    arguments: [
      ([], "<subcommand>"), (["--help"], "<subcommand>"), (["help"], "<subcommand>"), (["check", "--help"], "check"),
      (["help", "check"], "check"), (["record", "--help"], "record"), (["approve", "-h"], "approve"),
      (["compare", "--help"], "compare"), (["validate", "--help"], "validate"),
      (["noise", "--help"], "noise"), (["selfcheck", "--help"], "selfcheck"), (["merge", "--help"], "merge"),
      (["explain", "--help"], "explain"), (["init", "--help"], "init"), (["doctor", "--help"], "doctor"),
      (["trend", "--help"], "trend"),
      (["history", "list", "--help"], "history list"), (["history", "import", "--help"], "history import"),
    ])
  func help(arguments: [String], subject: String) throws {
    let outcome = try Highwater.start(arguments, in: TemporaryProject()).wait()
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("USAGE: highwater \(subject)"))
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(outcome.output)")
    #expect(outcome.errors.isEmpty)
  }

  @Test(
    "A usage error exits with 2 and gives the reason on standard error",
    arguments: [
      (["--nonsense"], "nonsense"), (["chekc"], "'chekc'. Did you mean 'check'?"),
      (["check", "--repetitions", "0"], "from 1 to 1000"),
      (["check", "--repetitions", "many"], "many"), (["check", "--quiet", "--verbose"], "mutually exclusive"),
      (["check", "--color", "pink"], "pink"), (["check", "--no-notify", "--require-delivery"], "mutually exclusive"),
      (["history", "lst", "--limit"], "'lst'. Did you mean 'list'?"), (["xyzzy"], "Unknown command 'xyzzy'."),
      (["record"], "missing command"), (["record", "--interval", "5", "--", "true"], "interval"),
      (["compare", "a.json"], "current.json"), (["check", "--environment", "../x"], "not a valid environment name"),
      (["check", "--report", "svg=x"], "use one of json, html, junit, markdown, tap, codequality, openmetrics"),
      (["check", "--report", "tap"], "needs a file, as in `--report tap=FILE`"),
      (["check", "--junit", "-", "--report", "tap=-"], "--junit and --report tap cannot both be written"),
      (["compare", "a", "b", "--markdown", "x", "--html", "x"], "--html and --markdown cannot both be written to `x`"),
      (["record", "--junit", "x.xml", "--", "true"], "junit"), (["export"], "export"),
      (["trend", "--limit", "0"], "limit"), (["trend", "--limit", "-3"], "at least 1"), (["launches"], "file"),
      (["history", "list", "--limit", "-3"], "at least 1"),
      (["history", "prune"], "add `--keep N` or `--keep-days DAYS`"),
      (["history", "prune", "--kep", "5"], "Did you mean '--keep'?"),
      (["history", "prune", "--keep", "-5"], "from 1 to 1000000000"),
      (["history", "prune", "--keep", "9999999999"], "from 1 to 1000000000"),
      (["history", "prune", "--keep", "5", "--keep-days", "5"], "mutually exclusive"),
      (["history", "acknowledge", "4f2a", "--reson", "x"], "Did you mean '--reason'?"),
      (["history", "acknowledge", "4f2a"], "add `--reason TEXT`"),
      (["history", "acknowledge", "4f2a", "--reason", " \t"], "the reason is missing or blank"),
      (["check", "--shard", "5/4"], "is not a shard"), (["check", "--shard", "0/4"], "is not a shard"),
      (["check", "--shard", "1"], "is not a shard"), (["check", "--shard", "1/4", "--require-delivery"], "merge"),
      (["merge"], "result.json"), (["selfcheck", "--inject", "five"], "five"),
    ])
  func usage(arguments: [String], expected: String) throws {
    let outcome = try Highwater.start(arguments, in: TemporaryProject()).wait()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test(
    "Without a project file, every command that needs one exits with 2 and names the file",
    arguments: [
      "check", "approve", "noise", "selfcheck", "validate", "trend",
    ])
  func noProject(command: String) throws {
    let outcome = try Highwater.run(command, in: TemporaryProject())
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("highwater.yml"))
  }

  @Test("No example of a command's help is wrapped at 80 columns")
  func examples() throws {
    let project = try TemporaryProject()
    let overview = try Highwater.run("--help", in: project).output
    let commands = overview.matches(of: #/(?m)^  ([a-z]+)  +[A-Z]/#).map { String($0.output.1) }
    try #require(commands.contains("init") && commands.contains("limit"))
    for command in commands {
      let help = try Highwater.run("help", command, in: project).output
      let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      for index in lines.indices.dropLast() where lines[index].hasPrefix("  highwater ") {
        #expect(!(lines[index + 1].first?.isLetter ?? false), "\(lines[index])")
      }
    }
  }

  @Test("Completion scripts are generated for the usual shells", arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) throws {
    let outcome = try Highwater.run("--generate-completion-script", shell, in: TemporaryProject())
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("allow-missing-baseline"))
  }

  @Test("An unknown scenario name gets a suggestion")
  func unknownScenario() throws {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios: [{name: redis-load, target: {command: ["true"]}}]
      """)
    let outcome = try Highwater.run("check", "redis-laod", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("no scenario matches `redis-laod`"))
    #expect(outcome.errors.contains("did you mean `redis-load`?"))
  }
}
