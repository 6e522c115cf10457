/// One step of a scenario's script.
package struct Step: Sendable, Equatable {
  package indirect enum Action: Sendable, Equatable {
    /// Starts a phase, which lasts until the next phase or the stop.
    case phase(String)
    case run(Client)
    case http(HTTPCall)
    /// Writes text to the target's standard input.
    case send(String)
    case expectOutput(Pattern, within: Duration)
    case signal(Signal)
    case wait(Duration)
    /// Waits until resident memory is steady.
    case settle(within: Duration)
    case mark(String)
    /// Each turn is an iteration.
    case `repeat`(times: Int, steps: [Step])
  }

  /// A program that uses the target; it is not measured.
  package struct Client: Sendable, Equatable {
    package var command: Command
    /// nil if only the scenario's timeout applies.
    package var within: Duration?
    package var exits: [Int]

    package init(command: Command, within: Duration? = nil, exits: [Int] = [0]) {
      self.command = command
      self.within = within
      self.exits = exits
    }
  }

  /// An HTTP request that the runner sends.
  package struct HTTPCall: Sendable, Equatable {
    package var url: String
    package var method = "GET"
    package var body: String?
    package var headers: [String: String] = [:]
    /// The expected status; nil for any from 200 to 299.
    package var expectedStatus: Int?
    package var times = 1

    package init(url: String) {
      self.url = url
    }
  }

  package var action: Action
  package var place: SourcePlace?

  package init(_ action: Action, place: SourcePlace? = nil) {
    self.action = action
    self.place = place
  }
}

extension Step.Action {
  /// The actions, one row each, in the order of `project-file.md`.
  package enum Keys {
    fileprivate typealias Action = Step.Action
    fileprivate typealias Key = ScriptKey<Action>

    fileprivate static let phase = Key(
      "phase", .name(Action.phase), "starts a phase; it lasts until the next one or the stop", standard: "–",
      example: "phase: load")
    fileprivate static let mark = Key(
      "mark", .name(Action.mark), "names this instant on the pages", standard: "–", example: "mark: filled")
    fileprivate static let run = Key(
      "run", .client(Action.run), "runs a client, which is not measured",
      standard: "`command`; `within` (the scenario's timeout); `exit`: code or list (`0`)",
      example: "run: {command: [./client], within: 60s, exit: 0}")
    fileprivate static let http = Key(
      "http", .call(Action.http), "sends requests from Highwater itself",
      standard: "`url`; `method` (`GET`); `body`; `headers`; `expect`: status (200 to 299); `times` (`1`)",
      example: #"http: {url: "http://127.0.0.1:7001/x", times: 100}"#)
    fileprivate static let send = Key(
      "send", .text(Action.send), "writes text to the target's standard input", standard: "–",
      example: #"send: "SAVE\n""#)
    fileprivate static let expect = Key(
      "expect", .output(Action.expectOutput), "waits for output after the last match",
      standard: "`output`: regular expression; `within` (`10s`)", example: "expect: {output: saved, within: 5s}")
    fileprivate static let signal = Key(
      "signal", .signal(Action.signal), "sends a signal to the target", standard: "–", example: "signal: HUP")
    fileprivate static let wait = Key(
      "wait", .time(Action.wait), "waits, up to 24 h", standard: "–", example: "wait: 2s")
    fileprivate static let settle = Key(
      "settle", .settling(Action.settle), "waits until memory is steady: for 1 s within 1 %, or 256 KiB",
      standard: "`within` (`10s`)", example: "settle: {within: 20s}")
    fileprivate static let loop = Key(
      "repeat", .loop(Action.repeat), "repeats steps; each turn of the innermost `repeat` is an iteration",
      standard: "`times`, `steps`; nested at most \(Step.mostLevels) deep",
      example: "repeat: {times: 200, steps: [{run: [./client]}]}")

    package static let all: [ScriptKey<Step.Action>] = [
      phase, mark, run, http, send, expect, signal, wait, settle, loop,
    ]
  }

  package var entry: ScriptEntry<Self> {
    switch self {
    case .phase(let name): ScriptEntry(Keys.phase, .name(name))
    case .mark(let name): ScriptEntry(Keys.mark, .name(name))
    case .run(let client): ScriptEntry(Keys.run, .client(client, Self.run))
    case .http(let call): ScriptEntry(Keys.http, .call(call, Self.http))
    case .send(let text): ScriptEntry(Keys.send, .text(text, Self.send), uses: .input)
    case .expectOutput(let pattern, let time):
      ScriptEntry(Keys.expect, .output(pattern, within: time, Self.expectOutput), uses: .output)
    case .signal(let signal): ScriptEntry(Keys.signal, .signal(signal))
    case .wait(let time): ScriptEntry(Keys.wait, .time(time))
    case .settle(let time): ScriptEntry(Keys.settle, .settling(within: time))
    case .repeat(let times, let steps): ScriptEntry(Keys.loop, .loop(times, steps, Self.repeat))
    }
  }

  /// How often it does its work in one turn, and the steps that this is, for a `repeat`.
  package var turns: (times: Int, steps: [Step]) {
    switch self {
    case .repeat(let times, let steps): (times, steps)
    case .http(let call): (call.times, [])
    case .phase, .mark, .run, .send, .expectOutput, .signal, .wait, .settle: (1, [])
    }
  }

  /// Whether it may be skipped after the target's end.
  package var isPassive: Bool {
    switch self {
    case .phase, .mark, .wait, .settle: true
    case .run, .http, .send, .expectOutput, .signal: false
    case .repeat(_, let steps): steps.allSatisfy(\.action.isPassive)
    }
  }
}

extension Step {
  /// The maximum nesting of `repeat`.
  package static let mostLevels = 8

  /// The step, and those of a `repeat`.
  package var all: [Step] { [self] + action.turns.steps.flatMap(\.all) }

  /// The phases that it starts.
  package var phases: [String] {
    all.compactMap { if case .phase(let name) = $0.action { name } else { nil } }
  }

  /// A short description of the step, as in the file of its scenario's project.
  package func description(in scenario: Scenario) -> String { action.entry.text(in: scenario) }

  /// The step with each action changed, also those of a `repeat`.
  func mapActions(_ change: (Action) -> Action) -> Step {
    guard case .repeat(let times, let steps) = action else { return Step(change(action), place: place) }
    return Step(.repeat(times: times, steps: steps.map { $0.mapActions(change) }), place: place)
  }

  /// The step with all that it waits for allowed to take so many times longer.
  func allowing(times factor: Int) -> Step {
    mapActions { action in
      switch action {
      case .run(var client):
        client.within? *= factor
        return .run(client)
      case .expectOutput(let pattern, let time): return .expectOutput(pattern, within: time * factor)
      case .settle(let time): return .settle(within: time * factor)
      case .phase, .http, .send, .signal, .wait, .mark, .repeat: return action
      }
    }
  }

  /// The step with changed texts.
  func map(_ change: (String) -> String) -> Step { Step(action.entry.value.map?(change) ?? action, place: place) }
}

extension Scenario {
  /// A URL for messages: as the project file writes it, without credentials.
  package func shown(url: String) -> String { ShownURL.withoutCredentials(asWritten(url)) }
}

/// URLs in a form that may be printed.
package enum ShownURL {
  /// The URL without `user:password@`, query and fragment, which may contain secrets.
  package static func withoutCredentials(_ url: String) -> String {
    let visible = url.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = visible.firstRange(of: "://") else { return String(visible) }
    let rest = visible[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    return String(visible[..<scheme.upperBound]) + host + rest.dropFirst(authority.count)
  }
}
