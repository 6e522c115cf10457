import GateCore

/// The steps.
enum StepKeys {
  static let actions = Step.Action.Keys.all.map(Key.init)

  static let table = KeyTable(
    "step", of: "a step", actions.map(\.row), only: actions.map(\.row.name), example: "- wait: 2s")

  /// The maximum number of steps in a repetition, counting each turn: at 1 ms each, a quarter of an hour.
  static let mostTurns = 1_000_000

  /// The steps of a scenario.
  static let list = ValueForm<[Step]>(nested.shape) { value, row, context in
    let steps = nested.read(value, row, context)
    if let steps, turns(of: steps) > mostTurns {
      context.printError("one repetition has more than \(mostTurns) steps", at: value.place)
    }
    return steps
  }

  /// The steps of a scenario or of a `repeat`.
  static let nested = ValueForm<[Step]>.list(.init(.mapping { table }) { value, _, context in step(value, context) })

  /// The number of steps that one repetition runs; at most `Int.max`.
  static func turns(of steps: [Step]) -> Int {
    steps.reduce(0) { sum, step in
      let (times, inner) = step.action.turns
      let each = inner.isEmpty ? 1 : turns(of: inner)
      let (product, overflow) = times.multipliedReportingOverflow(by: each)
      let (total, tooLarge) = sum.addingReportingOverflow(overflow ? .max : product)
      return tooLarge ? .max : total
    }
  }

  private static func step(_ value: YAMLValue, _ context: ReadingContext) -> Step? {
    guard let fields = Fields(value, of: table, in: context) else { return nil }
    guard let entry = fields.entries.first, fields.entries.count == 1 else {
      // A mapping whose only key is invalid already has a diagnostic.
      if fields.isEmpty || fields.entries.count > 1 {
        context.printError(
          "a step must have one key, not \(fields.entries.count)",
          at: fields.entries.dropFirst().first?.key.place ?? value.place,
          hint: "start each step with its own `- `"
        )
      }
      return nil
    }
    let action = actions.first { $0.row.name == entry.key.text }?.read(entry.value, in: context)
    return action.map { Step($0, place: entry.key.place) }
  }
}

/// The keys of a `run` step.
enum ClientKeys {
  static let command = Key("command", .command, "the client", standard: nil, example: "command: [sleep, 1]")
  static let within = Key(
    "within", .timeout, "how long it may take", standard: "the scenario's timeout", example: "within: 60s")
  static let exit = Key(
    "exit", .oneOrMore(.integer(in: 0...255, sample: 0)), "the exit code that it must have, or a list of them",
    standard: "`0`", example: "exit: 0")
  static let table = KeyTable(
    "run", of: "a `run` step", [command.row, within.row, exit.row], short: "command", only: ["command"],
    example: "run: {command: [sleep, 1]}")

  static func client(_ fields: Fields) -> Step.Client? {
    guard fields.only() != nil, let command = fields.value(of: command) else { return nil }
    var client = Step.Client(command: command)
    fields.take(within, into: &client.within)
    fields.take(exit, into: &client.exits)
    return client
  }
}

/// The keys of a `settle` step.
enum SettleKeys {
  static let within = Key("within", .timeout, "how long it may take", standard: "`10s`", example: "within: 10s")
  static let table = KeyTable(
    "settle", of: "a `settle` step", [within.row], short: "within", example: "settle: {within: 10s}")

  static func timeout(_ fields: Fields) -> Duration { fields.value(of: within) ?? .seconds(10) }
}

/// The keys of an `expect` step.
enum OutputKeys {
  static let output = Key(
    "output", .pattern, "a regular expression that a line matches", standard: nil, example: "output: saved")
  static let within = Key("within", .timeout, "how long it may take", standard: "`10s`", example: "within: 5s")
  static let table = KeyTable(
    "expected-output", of: "an `expect` step", [output.row, within.row], short: "output", only: ["output"],
    example: "expect: {output: saved, within: 5s}")

  static func expectation(_ fields: Fields) -> (Pattern, Duration)? {
    guard fields.only() != nil, let pattern = fields.value(of: output) else { return nil }
    return (pattern, fields.value(of: within) ?? .seconds(10))
  }
}

/// The keys of a `repeat` step.
enum LoopKeys {
  static let times = Key(
    "times", .integer(in: 1...StepKeys.mostTurns), "how often", standard: nil, example: "times: 200")
  static let steps = Key(
    "steps", StepKeys.nested, "the steps of each turn", standard: nil, example: "steps: [{wait: 2s}]")
  static let table = KeyTable(
    "repeat", of: "a `repeat` step", [times.row, steps.row], example: "repeat: {times: 200, steps: […]}")

  static let form = ValueForm<(Int, [Step])>(.mapping { table }) { value, _, outer in
    guard outer.loops < Step.mostLevels else {
      outer.printError("`repeat` is nested deeper than \(Step.mostLevels) levels", at: value.place)
      return nil
    }
    var context = outer
    context.loops += 1
    return Fields(value, of: table, in: context).flatMap(loop)
  }

  private static func loop(_ fields: Fields) -> (Int, [Step])? {
    let (times, inner) = (fields.value(of: times), fields.value(of: steps))
    for key in table.required where !fields.mentions(key) {
      fields.context.printError("a `repeat` step needs `\(key)`", at: fields.place)
    }
    guard let times, let inner else { return nil }
    if case .sequence(let items)? = fields["steps"]?.content, items.isEmpty {
      fields.context.printError("`repeat` repeats no steps", at: fields.place, hint: "add a step to its `steps`")
    }
    return (times, inner)
  }
}
