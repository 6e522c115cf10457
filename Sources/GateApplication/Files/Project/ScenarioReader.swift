import GateCore

/// Reads a scenario, except its name and matrix.
struct ScenarioReader {
  private let context: ReadingContext

  init(context: ReadingContext) {
    var context = context
    context.written = WrittenTexts()
    self.context = context
  }

  /// Reads a scenario with merged defaults and a filled-in matrix; nil if its target is invalid.
  func scenario(_ value: YAMLValue, named name: ScenarioName) -> Scenario? {
    guard let fields = Fields(value, of: ScenarioKeys.table, in: context) else { return nil }
    if !fields.mentions("target") {
      context.printError(
        "a scenario needs a `target`", at: value.place, hint: "such as `target: {command: [sleep, 1]}`")
    }
    guard let target = fields.value(of: ScenarioKeys.target) else {
      // The rest is read only for its diagnostics.
      _ = apply(fields, to: Scenario(name: name, target: Target(command: .shell(":"), workingDirectory: "/")))
      return nil
    }
    var scenario = Scenario(name: name, target: target)
    scenario.place = value.place
    scenario.root = context.root
    scenario.gate = .standard(ofTree: target.main == nil && target.buildTool == nil)
    if target.suite != nil { scenario.timeout = Scenario.suiteTimeout }
    scenario = apply(fields, to: scenario)
    if let rule = target.suite {
      checkSuite(fields)
      scenario.becomeSuite(rule)
    }
    if target.running != nil { checkAttached(scenario, fields) }
    connectSends(of: &scenario, at: value.place)
    scenario.writtenTexts = context.written.byFilledText
    if let gate = fields["gate"] { GateReader(context: context).checkPhases(in: gate, of: scenario) }
    return scenario
  }

  /// Reads `defaults` only for its diagnostics, so that each is reported once, even if every scenario overrides it.
  func checkDefaults(_ value: YAMLValue) {
    guard let fields = Fields(value, of: ScenarioKeys.shared, in: context) else { return }
    _ = apply(
      fields,
      to: Scenario(name: ScenarioName("defaults"), target: Target(command: .shell(":"), workingDirectory: "/"))
    )
  }

  private func apply(_ fields: Fields, to original: Scenario) -> Scenario {
    var scenario = original
    fields.take(ScenarioKeys.description, into: &scenario.description)
    fields.take(ScenarioKeys.tags, into: &scenario.tags)
    fields.take(ScenarioKeys.exclusive, into: &scenario.isExclusive)
    applyScript(fields, to: &scenario)
    applyMeasuring(fields, to: &scenario)
    return scenario
  }

  private func applyScript(_ fields: Fields, to scenario: inout Scenario) {
    fields.take(ScenarioKeys.build, into: &scenario.build)
    fields.take(ScenarioKeys.setup, into: &scenario.setup)
    fields.take(ScenarioKeys.teardown, into: &scenario.teardown)
    fields.take(ScenarioKeys.ready, into: &scenario.ready)
    fields.take(ScenarioKeys.steps, into: &scenario.steps)
    fields.take(ScenarioKeys.stop, into: &scenario.stop)
    fields.take(ScenarioKeys.until, into: &scenario.until)
    fields.take(ScenarioKeys.expect, into: &scenario.expect)
    fields.take(ScenarioKeys.timeout, into: &scenario.timeout)
  }

  private func applyMeasuring(_ fields: Fields, to scenario: inout Scenario) {
    fields.take(ScenarioKeys.repetitions, into: &scenario.repetitions)
    fields.take(ScenarioKeys.warmup, into: &scenario.warmup)
    fields.take(ScenarioKeys.interval, into: &scenario.interval)
    fields.take(ScenarioKeys.memoryLimit, into: &scenario.memoryLimit)
    fields.take(ScenarioKeys.limit, into: &scenario.limit)
    checkLimits(of: scenario, in: fields)
    fields.take(ScenarioKeys.isolation, into: &scenario.isolation)
    fields.take(ScenarioKeys.cpus, into: &scenario.isolation.cpuCount)
    fields.take(ScenarioKeys.gate, into: &scenario.gate)
    fields.take(ScenarioKeys.explain, into: &scenario.explain)
  }

  /// The repetitions have passed with the `memory-limit`, so that a higher one says nothing.
  private func checkLimits(of scenario: Scenario, in fields: Fields) {
    guard let own = scenario.memoryLimit, let rule = scenario.limit, rule.survives > own else { return }
    context.printError(
      "`survives` is larger than `memory-limit`: \(rule.survives) and \(own)", at: fields.place(of: "limit"),
      hint: "every repetition has the `memory-limit`; write a lower `survives`, or remove one of them")
  }

  /// Reports what a suite of tests cannot have.
  private func checkSuite(_ fields: Fields) {
    for key in ScenarioKeys.table.keys where fields.mentions(key) && !ScenarioKeys.ofSuite.contains(key) {
      context.printError(
        "`\(key)` has no effect on a suite: it runs once, and each of its tests is judged", at: fields.place(of: key),
        hint: "remove it; a suite may have \(Shown.list(ScenarioKeys.ofSuite))")
    }
  }

  /// Reports what only a target can have that is started.
  private func checkAttached(_ scenario: Scenario, _ fields: Fields) {
    let isOwn = !scenario.target.runsAlready
    func report(_ key: String, at place: SourcePlace) {
      context.printError(
        "`\(key)` needs a target that Highwater starts itself, and this one \(isOwn ? "is a container" : "runs already")",
        at: place, hint: "remove it, or start the target by `command`")
    }
    let keys = [ScenarioKeys.memoryLimit.row.name, ScenarioKeys.limit.row.name, ScenarioKeys.cpus.row.name]
    for key in keys where fields.mentions(key) { report(key, at: fields.place(of: key)) }
    // Of a container the output is known.
    func isUnknown(_ stream: TargetStream?) -> Bool { stream != nil && !(isOwn && stream == .output) }
    if let ready = scenario.ready?.condition.entry, isUnknown(ready.stream) || ready.key.name == "mark" {
      report("ready: {\(ready.key.name): …}", at: fields.place(of: "ready"))
    }
    for step in scenario.allSteps where isUnknown(step.action.entry.stream) {
      report(step.action.entry.key.name, at: step.place ?? fields.place)
    }
    guard !isOwn, scenario.ending == .steps, scenario.steps.isEmpty else { return }
    context.printError(
      "a target that runs already needs `steps`, or `until: exit`", at: fields.place(of: "target"),
      hint: "such as `steps: [{wait: 30s}]`")
  }

  /// Gives a target a pipe as its input where steps write to it; another input is an error.
  private func connectSends(of scenario: inout Scenario, at place: SourcePlace) {
    guard let writer = scenario.allSteps.first(where: { $0.action.entry.stream == .input }) else { return }
    switch scenario.target.input {
    case .null, .pipe: scenario.target.input = .pipe
    case .file, .text:
      context.printError(
        "`\(writer.action.entry.key.name)` needs a target whose standard input is a pipe",
        at: writer.place ?? place,
        hint: "write `stdin: pipe` in the `target`"
      )
    }
  }
}
