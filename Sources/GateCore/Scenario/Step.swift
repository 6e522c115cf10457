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

extension Step {
  /// The phases that it starts.
  package var phases: [String] {
    switch action {
    case .phase(let name): [name]
    case .repeat(_, let steps): steps.flatMap(\.phases)
    default: []
    }
  }
}

extension Step {
  /// A short description of the step, as in the file of its scenario's project.
  package func description(in scenario: Scenario) -> String {
    switch action {
    case .phase(let name): "phase: \(name)"
    case .run(let client): "run: \(client.command)"
    case .http(let call): "http: \(call.method) \(ShownURL.withoutCredentials(scenario.asWritten(call.url)))"
    case .send(let text): "send: \(text.prefix(40).debugDescription)"
    case .expectOutput(let pattern, let within): "expect: output `\(pattern)` within \(within.displayText)"
    case .signal(let signal): "signal: \(signal.name)"
    case .wait(let time): "wait: \(time.displayText)"
    case .settle(let within): "settle: within \(within.displayText)"
    case .mark(let name): "mark: \(name)"
    case .repeat(let times, _): "repeat: \(times) times"
    }
  }
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
