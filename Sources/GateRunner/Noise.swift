import FoundationEssentials
package import GateCore
import GateFiles
import GateReports

/// Runs scenarios against themselves, and says how noisy they are and what would make them quieter.
package struct Noise {
  package var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty is all.
  package var selection: [String] = []
  /// How often each scenario is run as it is; ``fewest`` or more.
  package var repetitions = 20
  /// Whether other settings of its isolation are tried, too.
  package var triesVariants = true

  /// Of fewer values no deviation is worth its name.
  package static let fewest = 5

  package init() {}

  /// Runs the scenarios and prints what they tell; baselines, history and the last result stay as they are.
  ///
  /// - Returns: `pass`, or `failed` or `inconclusive` where a scenario did not run or gave no figures.
  /// - Throws: `DiagnosticError` for bad input.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare()
    let lock = try artifacts.lock()
    defer { withExtendedLifetime(lock) {} }
    let probe = invocation.measurer
    let begin = ContinuousClock.now
    var run = RunInfo(
      startingAt: invocation.now(), BuildContext(variables: invocation.variables, root: project.root)
    )
    var round = NoiseRound(
      count: repetitions, triesVariants: triesVariants, rule: project.environment, probe: probe, artifacts: artifacts,
      show: invocation.console.show
    )
    guard let studies = try round.studies(of: scenarios), invocation.interruption.signal == nil else {
      invocation.console.say("interrupted: targets are stopped; baselines and the last result are as they were")
      return invocation.interruptedCode ?? .interrupted
    }
    run.duration = ContinuousClock.now - begin
    let code = try tell(NoiseResult(run: run, studies: studies), artifacts, invocation)
    guard let lost = round.unwritten else { return code }
    invocation.console.printError(lost)
    return code == .pass ? .failed : code
  }

  private func tell(_ result: NoiseResult, _ artifacts: ArtifactsFolder, _ invocation: Invocation) throws -> ExitCode {
    invocation.console.clearProgress()
    var context = SummaryContext(exitCode: result.verdict.exitCode)
    context.detail = invocation.console.detail
    context.options = options.repeated
    for study in result.studies where study.result.failure != nil {
      let output = artifacts.ofNoise.output(of: study.name, repetition: study.repetitions)
      guard FileManager.default.fileExists(atPath: output) else { continue }
      context.outputs[study.name] = invocation.shown(output)
    }
    invocation.console.report(besides: options) { NoiseReport.text(result, style: $0, context: context) }
    try options.write(NoiseFile.encode(result), in: invocation)
    return context.exitCode
  }
}
