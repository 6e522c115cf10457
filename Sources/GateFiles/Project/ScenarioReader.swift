import GateCore

/// Reads a scenario, except its name and matrix.
struct ScenarioReader {
  static let keys = [
    "name", "description", "tags", "target", "setup", "teardown", "ready", "steps", "stop", "until", "expect",
    "timeout", "repetitions", "warmup", "interval", "memory-limit", "limit", "isolation", "matrix", "gate", "explain",
    "exclusive",
  ]

  /// The keys of `defaults`: everything that scenarios can share.
  static let sharedKeys = keys.filter { !["name", "target", "matrix"].contains($0) }

  private let context: ReadingContext

  init(context: ReadingContext) {
    var context = context
    context.written = WrittenTexts()
    self.context = context
  }

  /// Reads a scenario with merged defaults and a filled-in matrix; nil if its target is invalid.
  func scenario(_ value: YAMLValue, named name: ScenarioName) -> Scenario? {
    guard let fields = fields(value, of: "a scenario", known: Self.keys) else { return nil }
    if !fields.mentions("target") {
      context.printError(
        "a scenario needs a `target`", at: value.place, hint: "such as `target: {command: [sleep, 1]}`")
    }
    guard let target = fields["target"].flatMap({ TargetReader(context: context).target($0) }) else {
      // The rest is read only for its diagnostics.
      _ = apply(fields, to: Scenario(name: name, target: Target(command: .shell(":"), workingDirectory: "/")))
      return nil
    }
    var scenario = Scenario(name: name, target: target)
    scenario.place = value.place
    scenario.root = context.root
    scenario.gate = .standard(ofTree: target.main == nil)
    scenario = apply(fields, to: scenario)
    connectSends(of: &scenario, at: value.place)
    scenario.writtenTexts = context.written.byFilledText
    if let gate = fields["gate"] { GateReader(context: context).checkPhases(in: gate, of: scenario) }
    return scenario
  }

  /// Reads `defaults` only for its diagnostics, so that each is reported once, even if every scenario overrides it.
  func checkDefaults(_ value: YAMLValue) {
    guard let fields = fields(value, of: "`defaults`", known: Self.sharedKeys) else { return }
    _ = apply(
      fields,
      to: Scenario(name: ScenarioName("defaults"), target: Target(command: .shell(":"), workingDirectory: "/"))
    )
  }

  private func fields(_ value: YAMLValue, of owner: String, known: [String]) -> Fields? {
    let example = owner == "a scenario" ? "- name: load" : "defaults: {warmup: 1}"
    return Fields(value, of: owner, known: known, example: example, in: context)
  }

  private func apply(_ fields: Fields, to original: Scenario) -> Scenario {
    var scenario = original
    applyWords(fields, to: &scenario)
    applyScript(fields, to: &scenario)
    applyMeasuring(fields, to: &scenario)
    return scenario
  }

  private func applyWords(_ fields: Fields, to scenario: inout Scenario) {
    fields.take("description", into: &scenario.description) {
      context.text($0, as: "description", example: "description: One client fills it")
    }
    fields.take("tags", into: &scenario.tags) { value in
      context.list(value, as: "tags", example: "tags: [server]") {
        context.plainName($0, as: "tags", example: "tags: [server]")
      }
    }
  }

  private func applyScript(_ fields: Fields, to scenario: inout Scenario) {
    fields.take("setup", into: &scenario.setup) { commands($0, as: "setup") }
    fields.take("teardown", into: &scenario.teardown) { commands($0, as: "teardown") }
    fields.take("ready", into: &scenario.ready) { ReadinessReader(context: context).readiness($0) }
    fields.take("steps", into: &scenario.steps) { StepReader(context: context).steps($0) }
    fields.take("stop", into: &scenario.stop, stop)
    fields.take("until", into: &scenario.until) { context.choice($0, as: "until", Ending.self) }
    fields.take("expect", into: &scenario.expect, expectedEnd)
    fields.take("timeout", into: &scenario.timeout) {
      context.timeout($0, as: "timeout", example: "timeout: 5m")
    }
  }

  private func applyMeasuring(_ fields: Fields, to scenario: inout Scenario) {
    fields.take("repetitions", into: &scenario.repetitions, repetitions)
    fields.take("warmup", into: &scenario.warmup) { context.integer($0, as: "warmup", in: 0...100) }
    fields.take("interval", into: &scenario.interval) {
      context.duration($0, as: "interval", from: .milliseconds(1), to: .seconds(10), example: "interval: 10ms")
    }
    fields.take("memory-limit", into: &scenario.memoryLimit) {
      limit($0, as: "memory-limit", example: "memory-limit: 512MiB")
    }
    fields.take("limit", into: &scenario.limit, limitRule)
    checkLimits(of: scenario, in: fields)
    fields.take("isolation", into: &scenario.isolation) { IsolationReader(context: context).isolation($0) }
    fields.take("gate", into: &scenario.gate) { GateReader(context: context).gate($0) }
    fields.take("explain", into: &scenario.explain, explainRule)
    fields.take("exclusive", into: &scenario.isExclusive) {
      context.word($0, as: "exclusive", among: ["true", "false"]).map { $0 == "true" }
    }
  }

  /// A word, or how long explaining may take in a check.
  private func explainRule(_ value: YAMLValue) -> ExplainRule? {
    if value.scalar?.first?.isNumber == true {
      return context.timeout(value, as: "explain", example: "explain: 30s").map(ExplainRule.within)
    }
    let words: [(String, ExplainRule)] = [("auto", .auto), ("always", .always), ("off", .off)]
    return context.word(value, as: "explain", among: words.map(\.0), or: "a time such as `30s`")
      .flatMap { word in words.first { $0.0 == word }?.1 }
  }

  private func commands(_ value: YAMLValue, as name: String) -> [Command]? {
    if case .sequence(let items) = value.content, let option = items.first(where: { $0.scalar?.first == "-" }) {
      context.printError(
        "`\(name)` is a list of commands, and \(option.found) is not one",
        at: option.place,
        hint: "write a command as a text, or as a list in the list: `\(name): [[mkdir, -p, run]]`"
      )
      return nil
    }
    return context.list(value, as: name, example: "\(name): [[mkdir, -p, run]]") {
      context.command($0, as: name)
    }
  }

  private func stop(_ value: YAMLValue) -> StopRule? {
    guard
      let fields = Fields(
        value, of: "`stop`", known: ["signal", "within"], short: "signal",
        example: "stop: {signal: TERM, within: 10s}", in: context
      )
    else { return nil }
    var rule = StopRule()
    fields.take("signal", into: &rule.signal) { context.signal($0, as: "signal") }
    fields.take("within", into: &rule.within) { context.timeout($0, as: "within", example: "within: 10s") }
    return rule
  }

  private func expectedEnd(_ value: YAMLValue) -> ExpectedEnd? {
    guard
      let fields = Fields(
        value, of: "`expect`", known: ["exit", "signal"], short: "exit", example: "expect: {exit: 0}", in: context
      )
    else { return nil }
    var end = ExpectedEnd()
    fields.take("exit", into: &end.exits) { value in
      context.oneOrMore(value, as: "exit") { context.integer($0, as: "exit", in: 0...255, example: 0) }
    }
    fields.take("signal", into: &end.signals) { value in
      context.oneOrMore(value, as: "signal") { context.signal($0, as: "signal") }
    }
    if case .mapping(let all) = value.content, all.isEmpty {
      context.printError(
        "`expect` has neither an exit code nor a signal", at: value.place, hint: "such as `expect: {exit: 0}`")
    }
    return end
  }

  private func repetitions(_ value: YAMLValue) -> Repetitions? {
    guard case .mapping = value.content else {
      return context.integer(value, as: "repetitions", in: 1...Repetitions.most).map(Repetitions.fixed)
    }
    guard
      let fields = Fields(
        value, of: "`repetitions`", known: ["min", "max"], example: "repetitions: {min: 5, max: 20}", in: context
      )
    else { return nil }
    var (least, most): (Int?, Int?)
    fields.take("min", into: &least) { context.integer($0, as: "min", in: 1...Repetitions.most) }
    fields.take("max", into: &most) { context.integer($0, as: "max", in: 1...Repetitions.most) }
    if let least, let most, least > most {
      context.printError("`min` is larger than `max`: \(least) and \(most)", at: fields.place(of: "min"))
    }
    return .adaptive(min: least ?? min(5, most ?? 5), max: most ?? max(20, least ?? 20))
  }

  private func limit(_ value: YAMLValue, as name: String, example: String) -> Bytes? {
    guard let limit = context.bytes(value, as: name, example: example) else { return nil }
    guard limit > .zero else {
      context.printError("`\(name)` must be greater than 0", at: value.place)
      return nil
    }
    return limit
  }

  /// `off` is for a scenario that does not want the rule of the defaults.
  private func limitRule(_ value: YAMLValue) -> LimitRule?? {
    if value.scalar == "off" { return .some(nil) }
    let example = "limit: {survives: 64MiB}"
    guard
      let fields = Fields(
        value, of: "`limit`", known: ["survives"], short: "survives", example: example, in: context)
    else {
      return nil
    }
    if !fields.mentions("survives") {
      context.printError("`limit` needs `survives`", at: value.place, hint: "such as `\(example)`")
    }
    var survives: Bytes?
    fields.take("survives", into: &survives) { limit($0, as: "survives", example: "survives: 64MiB") }
    return survives.map { .some(LimitRule(survives: $0)) }
  }

  /// The repetitions have passed with the `memory-limit`, so that a higher one says nothing.
  private func checkLimits(of scenario: Scenario, in fields: Fields) {
    guard let own = scenario.memoryLimit, let rule = scenario.limit, rule.survives > own else { return }
    context.printError(
      "`survives` is larger than `memory-limit`: \(rule.survives) and \(own)", at: fields.place(of: "limit"),
      hint: "every repetition has the `memory-limit`; write a lower `survives`, or remove one of them")
  }

  /// Gives a target with `send` steps a pipe as its input; another input is an error.
  private func connectSends(of scenario: inout Scenario, at place: SourcePlace) {
    guard let send = firstSend(in: scenario.steps) else { return }
    switch scenario.target.input {
    case .null, .pipe: scenario.target.input = .pipe
    case .file, .text:
      context.printError(
        "`send` needs a target whose standard input is a pipe",
        at: send.place ?? place,
        hint: "write `stdin: pipe` in the `target`"
      )
    }
  }

  private func firstSend(in steps: [Step]) -> Step? {
    for step in steps {
      switch step.action {
      case .send: return step
      case .repeat(_, let inner):
        if let send = firstSend(in: inner) { return send }
      default: continue
      }
    }
    return nil
  }
}

/// Reads `isolation`.
struct IsolationReader {
  /// `CPU_SETSIZE` of sched_setaffinity(2), minus one.
  static let lastCPU = 1023

  let context: ReadingContext

  func isolation(_ value: YAMLValue) -> Isolation? {
    guard
      let fields = Fields(
        value, of: "`isolation`", known: ["aslr", "thp", "cpus", "tracer"], example: "isolation: {aslr: off}",
        in: context
      )
    else { return nil }
    var isolation = Isolation()
    fields.take("aslr", into: &isolation.randomAddresses) {
      context.word($0, as: "aslr", among: ["on", "off"]).map { $0 == "on" }
    }
    fields.take("thp", into: &isolation.hugePages) { context.choice($0, as: "thp") }
    fields.take("cpus", into: &isolation.cpus, cpus)
    fields.take("tracer", into: &isolation.tracer) { context.choice($0, as: "tracer") }
    return isolation
  }

  /// `"0-1,3"`, a number, or a list of numbers; the result is sorted and unique.
  private func cpus(_ value: YAMLValue) -> [Int]? {
    if case .sequence = value.content {
      return context.oneOrMore(value, as: "cpus") { context.integer($0, as: "cpus", in: 0...Self.lastCPU) }
        .map { Set($0).sorted() }
    }
    guard let text = context.line(value, as: "cpus", example: #"cpus: "0-1,3""#) else { return nil }
    var cpus: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
        context.printError(
          "`\(Shown.text(text))` is not a list of CPUs",
          at: value.place,
          hint: #"numbers from 0 to \#(Self.lastCPU) and ranges, such as `cpus: "0-1,3"`"#
        )
        return nil
      }
      cpus.formUnion(first...last)
    }
    return cpus.sorted()
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { $0 <= lastCPU ? $0 : nil }
  }
}
