import FoundationEssentials
import GateCore

/// Finds the commits that made scenarios need more memory: builds and measures some of those between two ends.
struct Bisect {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []
  /// A revision at which memory was as it should be.
  var good: String
  /// A later revision at which it is too high.
  var bad = "HEAD"
  var search = BisectOptions()

  init(good: String) {
    self.good = good
  }

  /// Searches, and prints what was found; the checkout, baselines, history and the last result are unchanged.
  ///
  /// - Returns: `pass` if the rise was found, `inconclusive` if the ends or the commits cannot be told apart, `failed` if
  ///   a scenario fails at an end.
  /// - Throws: `DiagnosticError` for bad input, or if an end cannot be built.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.study(selection, of: .commits, in: invocation) { studied in
      let range = try CommitRange(from: good, to: bad, in: studied.project.root)
      return try BisectBuilds.whileLocked(in: range.gitFolder) { try search(range, studied, invocation) }
    }
  }

  private func search(_ range: CommitRange, _ studied: StudiedProject, _ invocation: Invocation) throws -> ExitCode {
    let (project, scenarios, artifacts) = (studied.project, studied.scenarios, studied.artifacts)
    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    var search = search
    search.build = search.build ?? scenarios.buildLine
    var bisectRun = BisectRun(
      search, with: scenarios, in: range, of: project, artifacts: artifacts, invocation: invocation)
    defer { invocation.console.endProgress() }
    guard try bisectRun.search() else {
      invocation.console.say("\(Console.count(bisectRun.answerCount, "result")) saved; run the same command to resume")
      return invocation.interruptedExit()
    }
    run.duration = ContinuousClock.now - begin
    return try report(bisectRun.result(of: run), artifacts, invocation)
  }

  private func report(
    _ result: BisectResult,
    _ artifacts: ArtifactsFolder,
    _ invocation: Invocation
  ) throws -> ExitCode {
    invocation.console.endProgress()
    var context = SummaryContext(exitCode: result.exitCode)
    context.detail = invocation.console.detail
    context.options = options.repeated
    invocation.console.report(besides: options) { BisectReport.text(result, style: $0, context: context) }
    for file in options.reportFiles { try file.write(BisectFile.encode(result, words: .reports), in: invocation) }
    return result.exitCode
  }
}
