import GateCore

/// The keys of a scenario, in the order of the documentation.
enum ScenarioKeys {
  static let name = Key(
    "name", .plainName, "`\(PlainName.pattern)`, unique; required", standard: nil,
    example: "name: redis-load")
  static let description = Key("description", .text, "text", example: "description: One client fills 100 000 keys")
  static let tags = Key(
    "tags", .list(.plainName), "list of names, for `tag:NAME` on the command line", example: "tags: [server]")
  static let target = Key(
    "target", .mapping(TargetKeys.table, TargetKeys.target), "the program under measurement; required; below",
    standard: nil, example: "target: {command: [./server]}")
  static let build = Key(
    "build", .command, "the command that builds this scenario, instead of the project's `build`",
    standard: "the project's `build`", example: "build: make server")
  static let setup = Key(
    "setup", .commands, "commands before each repetition, not measured", example: "setup: [[mkdir, -p, run]]")
  static let teardown = Key(
    "teardown", .commands,
    "commands after each repetition, also after failures and interruptions; each has `timeout`, at most 60 s",
    example: #"teardown: ["rm -rf run"]"#)
  static let ready = Key(
    "ready", .mapping(ReadyKeys.table, ReadyKeys.readiness), "when the target is ready; below", standard: "at once",
    example: "ready: {tcp: 7001}")
  static let steps = Key("steps", StepKeys.list, "what happens then; below", example: "steps: [{wait: 2s}]")
  static let until = Key(
    "until", ValueForm<Ending>.choice,
    "`steps`: stop the target after the last step; `exit`: wait until it exits",
    standard: "`steps` where there are `steps` or `ready`, else `exit`", example: "until: exit")
  static let stop = Key(
    "stop", .mapping(StopKeys.table, StopKeys.rule), "`signal`, and `within`: the time before SIGKILL",
    standard: "`{signal: TERM, within: 10s}`", example: "stop: {signal: INT, within: 20s}")
  static let expect = Key(
    "expect", .mapping(ExpectedEndKeys.table, ExpectedEndKeys.end),
    "`exit`: code or list of codes; `signal`: name or list of names",
    standard: "exit code 0; where it is stopped, also the stop signal", example: "expect: {exit: [0, 3]}")
  static let timeout = Key(
    "timeout", .timeout, "time for the target in one repetition, and for each command of `setup`", standard: "`5m`",
    example: "timeout: 30s")
  static let repetitions = Key(
    "repetitions", RepetitionKeys.form, "a number, or `{min: N, max: N}` (1 to \(Repetitions.most))",
    standard: "`{min: 5, max: 20}`", example: "repetitions: 10")
  static let warmup = Key(
    "warmup", .integer(in: 0...100), "repetitions run first and not counted, 0 to 100", standard: "`1`",
    example: "warmup: 0")
  static let interval = Key(
    "interval", .duration(from: .milliseconds(1), to: .seconds(10)), "time between samples, 1 ms to 10 s",
    standard: "`10ms`", example: "interval: 2ms")
  static let memoryLimit = Key(
    "memory-limit", .limit, "limit of the target's own memory cgroup; an error where none can be made",
    example: "memory-limit: 512MiB")
  static let limit = Key(
    "limit", LimitKeys.form,
    "`survives`: a memory limit with which each check runs the scenario [once more](limit.md); `off` drops that of `defaults`",
    example: "limit: {survives: 64MiB}")
  static let cpus = Key(
    "cpus", .integer(in: 1...Isolation.mostCPUs, sample: 64),
    "how many CPUs the target [sees](measuring.md#other-numbers-of-cpus), 1 to \(Isolation.mostCPUs)",
    standard: "those of the machine", example: "cpus: 64")
  static let isolation = Key(
    "isolation", .mapping(IsolationKeys.table, IsolationKeys.isolation), "below", standard: "see below",
    example: #"isolation: {cpus: "0"}"#)
  static let matrix = Key(
    "matrix", MatrixExpansion.form, "lists of values by axis; below", example: "matrix: {clients: [1, 50]}")
  static let scale = Key(
    "scale", .mapping(ScaleKeys.table, ScaleKeys.axis),
    "`axis` and `values`: runs each repetition with several numbers of items; below",
    example: "scale: {axis: keys, values: [1000, 4000, 16000]}")
  static let gate = Key(
    "gate", GateKeys.form, "what is judged; below", standard: "the program, its tree and growth, at `auto`",
    example: "gate: {peak_rss: 2%}")
  static let exclusive = Key(
    "exclusive", .either("true", or: "false"),
    "whether it is measured alone, after all others, when `jobs` lets several run at the same time",
    standard: "`false`", example: "exclusive: true")
  static let explain = Key(
    "explain", explainRule,
    "after a regression, name the [function](explain.md) that holds the rise: `auto` (as long as that takes no longer in a check than its repetitions), a time such as `30s` instead, `always`, `off`",
    standard: "`auto`", example: "explain: off")

  static let table = KeyTable(
    "scenario", of: "a scenario",
    [
      name.row, description.row, tags.row, target.row, build.row, setup.row, teardown.row, ready.row, steps.row,
      until.row, stop.row, expect.row, timeout.row, repetitions.row, warmup.row, interval.row, memoryLimit.row,
      limit.row, cpus.row, isolation.row, matrix.row, scale.row, gate.row, exclusive.row, explain.row,
    ], example: "- name: load")

  /// Everything that scenarios can share.
  static let shared = KeyTable(
    "defaults", of: "`defaults`",
    table.rows.filter { !["name", "target", "matrix", "scale", "build"].contains($0.name) },
    example: "defaults: {warmup: 1}")

  /// Those that have a meaning for a suite of tests, which runs once and is judged test by test.
  static let ofSuite = [
    name.row, description.row, tags.row, target.row, build.row, timeout.row, memoryLimit.row, cpus.row, isolation.row,
    matrix.row, exclusive.row,
  ].map(\.name)

  /// A word, or how long explaining may take in a check.
  private static let explainRule = ValueForm<ExplainRule>(.any([.words(explainWords.map(\.0)), .duration])) {
    value, row, context in
    if value.scalar?.first?.isNumber == true {
      return context.timeout(value, as: row.name, example: "explain: 30s").map(ExplainRule.within)
    }
    return context.word(value, as: row.name, among: explainWords.map(\.0), or: "a time such as `30s`")
      .flatMap { word in explainWords.first { $0.0 == word }?.1 }
  }

  private static let explainWords: [(String, ExplainRule)] = [("auto", .auto), ("always", .always), ("off", .off)]
}

extension ValueForm where Value == [Command] {
  /// Commands of a shell or lists of words; a list of words alone is a mistake.
  fileprivate static var commands: Self {
    let list = list(.command)
    return .init(list.shape) { value, row, context in
      if case .sequence(let items) = value.content, let option = items.first(where: { $0.scalar?.first == "-" }) {
        context.printError(
          "`\(row.name)` is a list of commands, and \(option.found) is not one",
          at: option.place,
          hint: "write a command as a text, or as a list in the list: `\(row.name): [[mkdir, -p, run]]`"
        )
        return nil
      }
      return list.read(value, row, context)
    }
  }
}

/// The keys of `stop`.
enum StopKeys {
  static let signal = Key(
    "signal", .signal, "the signal that stops the target", standard: "`TERM`", example: "signal: TERM")
  static let within = Key("within", .timeout, "the time before SIGKILL", standard: "`10s`", example: "within: 10s")
  static let table = KeyTable(
    "stop", of: "`stop`", [signal.row, within.row], short: "signal", example: "stop: {signal: TERM, within: 10s}")

  static func rule(_ fields: Fields) -> StopRule {
    var rule = StopRule()
    fields.take(signal, into: &rule.signal)
    fields.take(within, into: &rule.within)
    return rule
  }
}

/// The keys of a scenario's `expect`.
enum ExpectedEndKeys {
  static let exit = Key(
    "exit", .oneOrMore(.integer(in: 0...255, sample: 0)), "the exit code, or a list of them", example: "exit: 0")
  static let signal = Key("signal", .oneOrMore(.signal), "a signal, or a list of them", example: "signal: TERM")
  static let table = KeyTable(
    "expected-end", of: "`expect`", [exit.row, signal.row], short: "exit", example: "expect: {exit: 0}")

  static func end(_ fields: Fields) -> ExpectedEnd {
    var end = ExpectedEnd()
    fields.take(exit, into: &end.exits)
    fields.take(signal, into: &end.signals)
    if fields.isEmpty {
      fields.context.printError(
        "`expect` has neither an exit code nor a signal", at: fields.place, hint: "such as `\(table.example)`")
    }
    return end
  }
}

/// The keys of `repetitions`, which may also be a number.
enum RepetitionKeys {
  private static let range = 1...Repetitions.most
  static let min = Key("min", .integer(in: range), "the least number", standard: "`5`", example: "min: 5")
  static let max = Key("max", .integer(in: range), "the largest number", standard: "`20`", example: "max: 20")
  static let table = KeyTable(
    "repetitions", of: "`repetitions`", [min.row, max.row], example: "repetitions: {min: 5, max: 20}")

  static let form = ValueForm<Repetitions>(.any([.integer(range), .mapping { table }])) { value, row, context in
    guard case .mapping = value.content else {
      return context.integer(value, as: row.name, in: range).map(Repetitions.fixed)
    }
    return Fields(value, of: table, in: context).map(adaptive)
  }

  private static func adaptive(_ fields: Fields) -> Repetitions {
    let (least, most) = (fields.value(of: min), fields.value(of: max))
    if let least, let most, least > most {
      fields.context.printError("`min` is larger than `max`: \(least) and \(most)", at: fields.place(of: "min"))
    }
    return .adaptive(min: least ?? Swift.min(5, most ?? 5), max: most ?? Swift.max(20, least ?? 20))
  }
}

/// The keys of `limit`, which may also be `off`.
enum LimitKeys {
  static let survives = Key(
    "survives", .limit, "the limit with which it must not fail", standard: nil, example: "survives: 64MiB")
  static let table = KeyTable(
    "limit", of: "`limit`", [survives.row], short: "survives", only: ["survives"], example: "limit: {survives: 64MiB}")

  static let form = ValueForm<LimitRule?>(.any([.words(["off"]), .size, .mapping { table }])) { value, _, context in
    if value.scalar == "off" { return .some(nil) }
    guard let fields = Fields(value, of: table, in: context) else { return nil }
    _ = fields.only()
    return fields.value(of: survives).map { .some(LimitRule(survives: $0)) }
  }
}
