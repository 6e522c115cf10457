import FoundationEssentials
import GateCore
import GateFiles
import GateReports
import GateWebhook

/// What follows a check's last repetition: the result file, the summary, the webhooks and the exit code.
struct CheckConclusion {
  var result: RunResult
  let project: Project
  let artifacts: ArtifactsFolder
  /// The results of another build, with which those of `result` were compared; empty where none was measured.
  let others: [ScenarioResult]
  /// What could not be written while the targets ran.
  let unwritten: [FileError]
  let check: Check
  let invocation: Invocation

  /// Tells everybody how the check went; a report that cannot be written never turns a bad verdict into a good one.
  mutating func carryOut() -> ExitCode {
    // What is compared with another build instead of the baselines is no part of the project's course.
    var history = check.against == nil ? CheckHistory(of: project, in: invocation) : nil
    history?.addCreep(to: &result)
    // Read before it is overwritten, and only where somebody is told what is new.
    let previous =
      project.webhooks.isEmpty ? nil : history?.previousVerdicts(before: result) ?? PreviousVerdicts(of: artifacts)
    let lost = write()
    history?.append(result)
    let hasTrend = history?.writeTrend(to: artifacts.trend) ?? false
    let delivered = notify(comparedWith: previous)
    var exitCode = result.verdict.exitCode
    if exitCode == .pass {
      exitCode = !lost.isEmpty ? .failed : delivered || !check.requiresDelivery ? .pass : .delivery
    }
    printSummary(exitCode, trend: hasTrend ? invocation.shown(artifacts.trend) : nil)
    for error in lost { invocation.console.printError(error) }
    return exitCode
  }

  /// Writes the result to both of its places, and the page; returns what could not be written.
  private func write() -> [FileError] {
    let bytes = ResultFile.encode(result)
    var lost = unwritten
    do throws(FileError) { try SafeFile.write(bytes, to: artifacts.result) } catch { lost.append(error) }
    do throws(FileError) { try check.options.write(bytes, in: invocation) } catch { lost.append(error) }
    do throws(FileError) {
      try check.options.writePage(
        { RunPage.text(result, context: context(exitCode: result.verdict.exitCode)) }, in: invocation)
    } catch {
      lost.append(error)
    }
    if !others.isEmpty {
      let other = RunResult(run: result.run, environment: result.environment, scenarios: others)
      do throws(FileError) {
        try SafeFile.write(ResultFile.encode(other), to: artifacts.comparison.result)
      } catch {
        lost.append(error)
      }
    }
    return lost
  }

  private func printSummary(_ exitCode: ExitCode, trend: String?) {
    var context = context(exitCode: exitCode)
    context.trendPath = trend
    invocation.console.report(besides: check.options) { SummaryReport.text(result, style: $0, context: context) }
  }

  private func context(exitCode: ExitCode) -> SummaryContext {
    var context = SummaryContext(exitCode: exitCode, resultPath: invocation.shown(artifacts.result))
    context.detail = invocation.console.detail
    context.options = check.options.repeated
    if check.against != nil { context.approval = .unavailable }
    for scenario in result.scenarios where scenario.failure != nil {
      let isOther = others.contains { $0.name == scenario.name && $0.failure != nil }
      let folder = isOther ? artifacts.comparison : artifacts
      let output = folder.output(of: scenario.name, repetition: scenario.repetitions.count)
      guard FileManager.default.fileExists(atPath: output) else { continue }
      context.outputs[scenario.name] = invocation.shown(output)
    }
    return context
  }

  /// Sends what the webhooks ask for; true where every message arrived.
  private func notify(comparedWith previous: PreviousVerdicts?) -> Bool {
    guard !project.webhooks.isEmpty else { return true }
    let exitCode = result.verdict.exitCode
    let states = result.scenarios.reduce(into: [:]) { states, scenario in
      states[scenario.name] = ScenarioState(scenario.verdict, after: previous?[scenario.name] ?? [])
    }
    var random = SystemRandomNumberGenerator()
    let messages = project.webhooks
      .filter { $0.occasion.isWorthTelling(exitCode: exitCode, states: states.values) }
      .map { webhook in
        OutgoingMessage(
          webhook: webhook,
          event: "check",
          deliveryID: RunIdentifier.make(at: invocation.now(), random: &random),
          body: NotificationBody.bytes(
            result, states: states, format: webhook.format, links: (build: result.run.buildURL, report: nil),
            exitCode: exitCode
          )
        )
      }
    let sender = WebhookSender(outbox: artifacts.outbox, interruption: invocation.interruption)
    let reports = sender.deliver(messages, webhooks: project.webhooks)
    for warning in reports.compactMap(\.warning) {
      invocation.console.warn(warning.problem)
      if let hint = warning.hint { invocation.console.say("  hint: \(hint)") }
    }
    return reports.allSatisfy(\.isDelivered)
  }
}

/// The verdicts of the checks before this one, for telling what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: [Verdict]]

  /// Takes each scenario's, the oldest first.
  init(_ verdicts: [ScenarioName: [Verdict]]) {
    self.verdicts = verdicts
  }

  /// Reads the last result; one that cannot be read tells nothing.
  init(of artifacts: ArtifactsFolder) {
    let bytes = try? SafeFile.read(artifacts.result, atMost: ResultFile.largest)
    let result = bytes.flatMap { try? ResultFile.decode($0, path: artifacts.result) }
    verdicts = Dictionary(
      result?.scenarios.map { ($0.name, [$0.verdict]) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  subscript(name: ScenarioName) -> [Verdict] {
    verdicts[name] ?? []
  }
}

extension RunInfo {
  /// A run that starts now.
  init(startingAt date: Date, _ build: BuildContext) {
    var random = SystemRandomNumberGenerator()
    self.init(
      id: RunIdentifier.make(at: date, random: &random),
      startedAt: date,
      commit: build.commit,
      subject: build.subject,
      branch: build.branch,
      buildURL: build.buildURL
    )
  }
}
