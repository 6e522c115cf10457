import GateCore

/// Reads `steps`.
struct StepReader {
  static let kinds = ["phase", "run", "http", "send", "expect", "signal", "wait", "settle", "mark", "repeat"]

  /// The maximum nesting of `repeat`.
  static let mostLevels = 8

  /// The maximum number of steps in a repetition, counting each turn: at 1 ms each, a quarter of an hour.
  static let mostTurns = 1_000_000

  let context: ReadingContext

  func steps(_ value: YAMLValue) -> [Step]? {
    let steps = steps(value, level: 0)
    if let steps, Self.turns(of: steps) > Self.mostTurns {
      context.printError("one repetition has more than \(Self.mostTurns) steps", at: value.place)
    }
    return steps
  }

  /// The number of steps that one repetition runs; at most `Int.max`.
  static func turns(of steps: [Step]) -> Int {
    steps.reduce(0) { sum, step in
      let turns: (times: Int, each: Int) =
        switch step.action {
        case .repeat(let times, let inner): (times, Self.turns(of: inner))
        case .http(let call): (call.times, 1)
        default: (1, 1)
        }
      let (product, overflow) = turns.times.multipliedReportingOverflow(by: turns.each)
      let (total, tooLarge) = sum.addingReportingOverflow(overflow ? .max : product)
      return tooLarge ? .max : total
    }
  }

  private func steps(_ value: YAMLValue, level: Int) -> [Step]? {
    context.list(value, as: "steps", example: "steps: [{wait: 2s}]") { step($0, level: level) }
  }

  private func step(_ value: YAMLValue, level: Int) -> Step? {
    guard let fields = Fields(value, of: "a step", known: Self.kinds, example: "- wait: 2s", in: context) else {
      return nil
    }
    guard let entry = fields.entries.first, fields.entries.count == 1 else {
      // A mapping whose only key is invalid already has a diagnostic.
      if case .mapping(let all) = value.content, all.isEmpty || fields.entries.count > 1 {
        context.printError(
          "a step must have one key, not \(fields.entries.count)",
          at: fields.entries.dropFirst().first?.key.place ?? value.place,
          hint: "start each step with its own `- `"
        )
      }
      return nil
    }
    return action(entry, level: level).map { Step($0, place: entry.key.place) }
  }

  private func action(_ entry: YAMLValue.Entry, level: Int) -> Step.Action? {
    let value = entry.value
    switch entry.key.text {
    case "phase": return context.plainName(value, as: "phase", example: "phase: load").map(Step.Action.phase)
    case "mark": return context.plainName(value, as: "mark", example: "mark: filled").map(Step.Action.mark)
    case "run": return client(value).map(Step.Action.run)
    case "http": return call(value).map(Step.Action.http)
    case "send": return context.text(value, as: "send", example: #"send: "SAVE\n""#).map(Step.Action.send)
    case "signal": return context.signal(value, as: "signal").map(Step.Action.signal)
    case "wait": return context.duration(value, as: "wait", example: "wait: 2s").map(Step.Action.wait)
    case "settle": return settle(value)
    case "expect": return expectation(value)
    default: return loop(value, level: level)
    }
  }

  private func client(_ value: YAMLValue) -> Step.Client? {
    guard
      let fields = Fields(
        value, of: "a `run` step", known: ["command", "within", "exit"], short: "command",
        example: "run: {command: [sleep, 1]}", in: context
      ), let entry = fields.only(of: ["command"], for: "a `run` step", in: context),
      let command = context.command(entry.value, as: "command")
    else { return nil }
    var client = Step.Client(command: command)
    fields.take("within", into: &client.within) { context.timeout($0, as: "within", example: "within: 60s") }
    fields.take("exit", into: &client.exits) { value in
      context.oneOrMore(value, as: "exit") { context.integer($0, as: "exit", in: 0...255, example: 0) }
    }
    return client
  }

  private func settle(_ value: YAMLValue) -> Step.Action? {
    guard
      let fields = Fields(
        value, of: "a `settle` step", known: ["within"], short: "within", example: "settle: {within: 10s}", in: context)
    else { return nil }
    var within = Duration.seconds(10)
    fields.take("within", into: &within) { context.timeout($0, as: "within", example: "within: 10s") }
    return .settle(within: within)
  }

  private func expectation(_ value: YAMLValue) -> Step.Action? {
    guard
      let fields = Fields(
        value, of: "an `expect` step", known: ["output", "within"], short: "output",
        example: "expect: {output: saved, within: 5s}", in: context
      ), let entry = fields.only(of: ["output"], for: "an `expect` step", in: context),
      let pattern = context.pattern(entry.value, as: "output", example: "output: saved")
    else { return nil }
    var within = Duration.seconds(10)
    fields.take("within", into: &within) { context.timeout($0, as: "within", example: "within: 5s") }
    return .expectOutput(pattern, within: within)
  }

  private func loop(_ value: YAMLValue, level: Int) -> Step.Action? {
    guard level < Self.mostLevels else {
      context.printError("`repeat` is nested deeper than \(Self.mostLevels) levels", at: value.place)
      return nil
    }
    guard
      let fields = Fields(
        value, of: "a `repeat` step", known: ["times", "steps"], example: "repeat: {times: 200, steps: […]}",
        in: context
      )
    else { return nil }
    var (times, inner): (Int?, [Step]?)
    fields.take("times", into: &times) { context.integer($0, as: "times", in: 1...Self.mostTurns) }
    fields.take("steps", into: &inner) { steps($0, level: level + 1) }
    for key in ["times", "steps"] where !fields.mentions(key) {
      context.printError("a `repeat` step needs `\(key)`", at: value.place)
    }
    guard let times, let inner else { return nil }
    if case .sequence(let items)? = fields["steps"]?.content, items.isEmpty {
      context.printError("`repeat` repeats no steps", at: value.place, hint: "add a step to its `steps`")
    }
    return .repeat(times: times, steps: inner)
  }
}

// Set by the runner itself.
extension StepReader {
  private static let callKeys = ["url", "method", "body", "headers", "expect", "times"]

  private func call(_ value: YAMLValue) -> Step.HTTPCall? {
    guard
      let fields = Fields(
        value, of: "an `http` step", known: Self.callKeys, short: "url",
        example: #"http: {url: "http://127.0.0.1:8080/"}"#, in: context
      ), let entry = fields.only(of: ["url"], for: "an `http` step", in: context),
      let url = context.address(entry.value, as: "url")
    else { return nil }
    var call = Step.HTTPCall(url: url)
    fields.take("method", into: &call.method, method)
    fields.take("body", into: &call.body) { context.text($0, as: "body", example: "body: text") }
    fields.take("headers", into: &call.headers, headers)
    fields.take("expect", into: &call.expectedStatus) { context.integer($0, as: "expect", in: 100...599, example: 200) }
    fields.take("times", into: &call.times) { context.integer($0, as: "times", in: 1...Self.mostTurns) }
    return call
  }

  private func method(_ value: YAMLValue) -> String? {
    guard let text = context.line(value, as: "method", example: "method: POST") else { return nil }
    guard text.utf8.count <= 20, text.utf8.allSatisfy({ (0x41...0x5a).contains($0) }) else {
      context.printError(
        "`\(Shown.text(text))` is not an HTTP method", at: value.place, hint: "such as `GET`, `POST` or `DELETE`"
      )
      return nil
    }
    return text
  }

  private func headers(_ value: YAMLValue) -> [String: String]? {
    guard case .mapping(let entries) = value.content else {
      context.expected("a mapping", as: "headers", not: value, example: "headers: {Accept: text/plain}")
      return nil
    }
    var (headers, known): ([String: String], Set<String>) = ([:], [])
    for entry in entries {
      let name = entry.key.text
      guard Self.isToken(name) else {
        context.printError("`\(Shown.text(name))` is not a header name", at: entry.key.place)
        continue
      }
      if !known.insert(name.lowercased()).inserted {
        context.printError("duplicate header `\(name)`", at: entry.key.place)
      }
      guard let text = context.text(entry.value, as: name, example: "\(name): text"),
        let full = context.interpolated(text, at: entry.value.place)
      else { continue }
      if full.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) {
        context.printError("the header `\(name)` must not contain control characters", at: entry.value.place)
      }
      headers[name] = full
    }
    return headers
  }

  /// Whether a text is a `token` (RFC 9110, section 5.6.2).
  private static func isToken(_ text: String) -> Bool {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    return (1...200).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || marks.contains(byte)
      }
  }
}
