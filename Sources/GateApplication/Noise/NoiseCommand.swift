import ArgumentParser
import GateCore

struct NoiseCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "noise",
    abstract: "Measures how much identical runs differ, and suggests tolerances.",
    usage: "highwater noise [<options>] [<name> ...]",
    discussion: """
      Runs all scenarios, or those that are named, as check would, and reports how much identical runs differ, the smallest \
      rise that a check can see, and a tolerance to copy into the project file. Also tries other \
      `isolation` settings, with half as many runs, and reports which are quieter. Baselines, history and the last result \
      stay as they are.

        highwater noise                          # all
        highwater noise redis-load --as-is       # one, and no other settings
        highwater noise --repetitions 40 load    # more precise
        highwater noise --json - | jq '.scenarios[].metrics[] | {name, deviation}'
      """
  )

  @Option(
    help: ArgumentHelp(
      "The number of repetitions of each scenario; other settings get half as many, at least 5.", valueName: "n"))
  var repetitions = 20

  @Flag(help: "Do not try other settings.")
  var asIs = false

  @OptionGroup var study: StudyOptions
  @OptionGroup var build: BuildOption
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard (Noise.fewest...Repetitions.most).contains(repetitions) else {
      throw ValidationError("--repetitions takes a number from \(Noise.fewest) to \(Repetitions.most)")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var noise = Noise()
    noise.options = study.shared
    noise.options.skipsBuild = build.noBuild
    noise.selection = study.names
    noise.repetitions = repetitions
    noise.triesVariants = !asIs
    return try noise.run(in: invocation)
  }
}
