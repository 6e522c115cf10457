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
  func carryOut() throws -> ExitCode {
    let previous = PreviousVerdicts(of: artifacts)
    let verdict = result.verdict.exitCode
    var lost: [Complaint] = []
    do {
      try write()
    } catch let error as FileError {
      lost = error.complaints
    }
    let delivered = notify(comparedWith: previous)
    workplace.console.clearProgress()
    printSummary()
    if !lost.isEmpty { workplace.console.complain(RunnerError(lost)) }
    if verdict != .pass { return verdict }
    if !lost.isEmpty || workplace.console.hasFailed { return .failed }
    return delivered || !check.requiresDelivery ? .pass : .delivery
  }

  private func write() throws {
    let bytes = ResultFile.encode(result)
    try SafeFile.write(bytes, to: artifacts.resultPath)
    switch check.options.json {
    case nil: break
    case "-": workplace.console.print(String(decoding: bytes, as: UTF8.self))
    case let path?: try SafeFile.write(bytes, to: workplace.absolute(path))
    }
  }

  private func printSummary() {
    let goesToOutput = check.options.json != "-"
    let context = SummaryContext(
      resultPath: artifacts.resultPath,
      outputPath: { artifacts.outputPath($0, $1) },
      config: check.options.config,
      isVerbose: workplace.console.volume == .verbose,
      isQuiet: workplace.console.volume == .quiet
    )
    let style = workplace.console.style(onOutput: goesToOutput)
    let text = SummaryReport.text(result, style: style, context: context)
    if goesToOutput { workplace.console.print(text) } else { workplace.console.say(text) }
  }

  /// Sends what the webhooks ask for; true where every message arrived.
  private func notify(comparedWith previous: PreviousVerdicts) -> Bool {
    let states = Dictionary(
      uniqueKeysWithValues: result.scenarios.map { ($0.name, ScenarioState(previous: previous[$0.name], current: $0.verdict)) }
    )
    var random = SystemRandomNumberGenerator()
    let messages = project.webhooks.filter { webhook in
      ScenarioState.isWorthTelling(webhook.occasion, verdict: result.verdict, states: Array(states.values))
    }.map { webhook in
      OutgoingMessage(
        webhook: webhook,
        event: "check",
        deliveryID: RunIdentifier.make(at: workplace.now(), random: &random),
        body: NotificationBody.bytes(
          result, states: states, format: webhook.format, links: (build: result.run.buildURL, report: nil),
          exitCode: result.verdict.exitCode
        )
      )
    }
    guard !project.webhooks.isEmpty else { return true }
    let postman = Postman(outbox: artifacts.outboxPath, interruption: workplace.interruption)
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
    let bytes = try? SafeFile.read(artifacts.resultPath, atMost: ResultFile.largest)
    let result = bytes.flatMap { try? ResultFile.decode($0, path: artifacts.resultPath) }
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
