import FoundationEssentials
import GateCore

/// Compares scenarios with themselves, and reports their noise and settings that would reduce it.
struct Noise {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []
  /// The repetitions of each scenario with its own settings; ``fewest`` or more.
  var repetitions = 20
  /// Whether other isolation settings are tried as well.
  var triesVariants = true

  /// Fewer values do not give a useful deviation.
  static let fewest = 5

  /// Runs the scenarios and prints the study; baselines, history and the last result are unchanged.
  ///
  /// - Returns: `pass`, or `failed` or `inconclusive` if a scenario failed or has no values.
  /// - Throws: `DiagnosticError` for bad input.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.study(selection, in: invocation) { try study($0, invocation) }
  }

  private func study(_ studied: StudiedProject, _ invocation: Invocation) throws -> ExitCode {
    let (project, scenarios, artifacts) = (studied.project, studied.scenarios, studied.artifacts)
    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    var round = NoiseRound(
      count: repetitions, triesVariants: triesVariants, jobs: project.jobs, rule: project.environment,
      measurer: invocation.measurer, artifacts: artifacts, showProgress: invocation.console.show
    )
    defer { invocation.console.endProgress() }
    guard let studies = try round.studies(of: scenarios), !invocation.isInterrupted else {
      return invocation.interruptedExit()
    }
    run.duration = ContinuousClock.now - begin
    let code = try report(NoiseResult(run: run, studies: studies), artifacts, invocation)
    guard let failure = round.writeFailure else { return code }
    invocation.console.printError(failure)
    return code == .pass ? .failed : code
  }

  private func report(_ result: NoiseResult, _ artifacts: ArtifactsFolder, _ invocation: Invocation) throws -> ExitCode
  {
    invocation.console.endProgress()
    var context = SummaryContext(exitCode: result.verdict.exitCode)
    context.detail = invocation.console.detail
    context.options = options.repeated
    context.outputs = artifacts.noise.outputs(ofFailed: result.studies.map(\.result)).mapValues(invocation.shown)
    invocation.console.report(besides: options) { NoiseReport.text(result, style: $0, context: context) }
    for file in options.reportFiles { try file.write(NoiseFile.encode(result, words: .reports), in: invocation) }
    return context.exitCode
  }
}
