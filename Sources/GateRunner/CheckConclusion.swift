import FoundationEssentials
import GateCore
import GateFiles
import GateReports
import GateWebhook

/// What follows a check's last repetition: the result file, the summary, the webhooks and the exit code.
struct CheckConclusion {
  let result: RunResult
  let project: Project
  let artifacts: ArtifactsFolder
  let check: Check
  let workplace: Workplace

  /// Tells everybody how the check went; a report that cannot be written never turns a bad verdict into a good one.
  func carryOut() -> ExitCode {
    let previous = PreviousVerdicts(of: artifacts)
    var lost: FileError?
    do {
      try write()
    } catch {
      lost = error
    }
    let delivered = notify(comparedWith: previous)
    var exitCode = result.verdict.exitCode
    if exitCode == .pass {
      exitCode = lost != nil ? .failed : delivered || !check.requiresDelivery ? .pass : .delivery
    }
    printSummary(exitCode)
    if let lost { workplace.console.complain(lost) }
    return exitCode == .pass && workplace.console.hasFailed ? .failed : exitCode
  }

  private func write() throws(FileError) {
    let bytes = ResultFile.encode(result)
    try SafeFile.write(bytes, to: artifacts.result)
    switch check.options.json {
    case nil: break
    case "-": workplace.console.print(String(decoding: bytes, as: UTF8.self))
    case let path?: try SafeFile.write(bytes, to: workplace.absolute(path))
    }
  }

  private func printSummary(_ exitCode: ExitCode) {
    let console = workplace.console
    var context = SummaryContext(exitCode: exitCode, resultPath: artifacts.result)
    context.detail = console.detail
    context.options = check.options.repeated
    for scenario in result.scenarios where scenario.failure != nil {
      let output = artifacts.output(of: scenario.name, repetition: scenario.repetitions.count)
      if FileManager.default.fileExists(atPath: output) { context.outputs[scenario.name] = output }
    }
    let goesToOutput = check.options.json != "-"
    let text = SummaryReport.text(result, style: console.style(onOutput: goesToOutput), context: context)
    if goesToOutput { console.print(text) } else { console.say(text) }
  }

  /// Sends what the webhooks ask for; true where every message arrived.
  private func notify(comparedWith previous: PreviousVerdicts) -> Bool {
    guard !project.webhooks.isEmpty else { return true }
    let exitCode = result.verdict.exitCode
    let states = result.scenarios.reduce(into: [:]) { states, scenario in
      states[scenario.name] = ScenarioState(scenario.verdict, after: previous[scenario.name])
    }
    var random = SystemRandomNumberGenerator()
    let messages = project.webhooks
      .filter { $0.occasion.isWorthTelling(exitCode: exitCode, states: states.values) }
      .map { webhook in
        OutgoingMessage(
          webhook: webhook,
          event: "check",
          deliveryID: RunIdentifier.make(at: workplace.now(), random: &random),
          body: NotificationBody.bytes(
            result, states: states, format: webhook.format, links: (build: result.run.buildURL, report: nil),
            exitCode: exitCode
          )
        )
      }
    let postman = Postman(outbox: artifacts.outbox, interruption: workplace.interruption)
    let reports = postman.deliver(messages, webhooks: project.webhooks)
    for report in reports where !report.isDelivered { workplace.console.say("warning: \(report.forPeople)") }
    return reports.allSatisfy(\.isDelivered)
  }
}

/// The verdicts of the check before this one, for telling what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: Verdict]

  /// Reads the last result; one that cannot be read tells nothing.
  init(of artifacts: ArtifactsFolder) {
    let bytes = try? SafeFile.read(artifacts.result, atMost: ResultFile.largest)
    let result = bytes.flatMap { try? ResultFile.decode($0, path: artifacts.result) }
    verdicts = Dictionary(result?.scenarios.map { ($0.name, $0.verdict) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  subscript(name: ScenarioName) -> Verdict? {
    verdicts[name]
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
      branch: build.branch,
      buildURL: build.buildURL
    )
  }
}
