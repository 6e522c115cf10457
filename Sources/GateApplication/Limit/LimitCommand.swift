import ArgumentParser
import GateCore

struct LimitCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "limit",
    abstract: "Finds the smallest memory limit at which a scenario passes, and where it begins to suffer.",
    usage: "highwater limit [<options>] [<name> ...]",
    discussion: """
      Runs all scenarios, or those that are named, without a limit and then in a memory cgroup with different limits. \
      At a limit a scenario survives, is slowed down, is killed, exits by itself or makes no progress. Baselines, history \
      and the last result stay as they are. It needs a memory cgroup.

        highwater limit redis-load   # needs 58.2 MiB; full speed from 71.0 MiB
        highwater limit --json limits.json

      The answer comes with `requests` and `limits` for Kubernetes, and with the line `limit: {survives: …}` for the \
      project file, with which each check runs the scenario once at that limit.

      Exit codes: 0 if each scenario has an answer, 2 if no limit can be set here, 3 if a scenario failed without one, \
      4 if there is no answer.
      """
  )

  @OptionGroup var study: StudyOptions
  @OptionGroup var build: BuildOption
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var limit = Limit()
    limit.options = study.shared
    limit.options.skipsBuild = build.noBuild
    limit.selection = study.names
    return try limit.run(in: invocation)
  }
}
