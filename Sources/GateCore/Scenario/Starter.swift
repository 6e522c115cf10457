/// What `init` writes for a repository: how its program is built and started, and a first scenario.
package struct Starter: Sendable, Equatable {
  /// What the repository is, by the file that says how to build it.
  package enum Kind: String, Sendable, CaseIterable {
    case swift, cargo, node, go, maven, gradle, python, cmake, meson, make, jar
    /// An executable file without anything that builds it.
    case executable
    /// A command that the user named.
    case command
  }

  package var kind: Kind
  /// The shell command that builds the program, in the repository's root; nil if nothing must be built.
  package var build: String?
  package var scenario: Scenario
  /// How long the program ran until it ended by itself; nil if it did not, or was not run.
  package var time: Duration?

  package init(kind: Kind, build: String? = nil, scenario: Scenario) {
    self.kind = kind
    self.build = build
    self.scenario = scenario
  }
}

extension Scenario {
  /// The variable by which services are often told their port.
  package static let portVariable = "PORT"

  /// The scenario that finds out whether the target ends by itself, and on which sockets it listens.
  package var exploring: Scenario {
    var exploring = self
    exploring.target.environment[Self.portVariable] = FreePort.placeholder
    exploring.steps = [Step(.wait(.seconds(4)))]
    exploring.findsListeners = true
    return exploring
  }

  /// The scenario of a service that is used by HTTP, if it is reached by TCP: some turns of one request each.
  package func requesting(from socket: Readiness.Condition) -> Scenario? {
    guard case .tcp(let host, let port) = socket else { return nil }
    let call = Step.HTTPCall(url: "http://\(Readiness.Condition.address(host, port))/")
    let load = Step(.repeat(times: Self.turns, steps: [Step(.http(call))]))
    return waiting(for: socket, [Step(.phase("load")), load, Step(.phase("idle")), Step(.wait(.seconds(1)))])
  }

  /// The scenario of a service that only waits, once it is ready.
  package func waiting(
    for condition: Readiness.Condition,
    _ steps: [Step] = [Step(.wait(.seconds(2)))]
  ) -> Scenario {
    var service = self
    service.ready = Readiness(condition)
    service.steps = steps
    if case .tcp(_, nil) = condition, !target.command.words.contains(where: { $0.contains(FreePort.placeholder) }) {
      service.target.environment[Self.portVariable] = FreePort.placeholder
    }
    return service
  }

  /// So many that growth per turn is judged exactly: what a program may serve from memory that it has freed before,
  /// 128 KiB, is divided by them.
  private static let turns = 200

  /// The requests of a turn in the scenario that is written: 2,000 in all, so that the first ones, which fill caches and
  /// pools, are a small part.
  package static let requestsPerTurn = 10

  /// The same with each request changed.
  package func changingRequests(_ change: (inout Step.HTTPCall) -> Void) -> Scenario {
    var changed = self
    changed.steps = steps.map { step in
      step.mapActions { action in
        guard case .http(var call) = action else { return action }
        change(&call)
        return .http(call)
      }
    }
    return changed
  }
}

extension Readiness.Condition {
  /// As in `127.0.0.1:7001`, `[::1]:7001` or `127.0.0.1:{{port}}`.
  package static func address(_ host: String, _ port: Int?) -> String {
    (host.contains(":") ? "[\(host)]" : host) + ":" + (port.map(String.init) ?? FreePort.placeholder)
  }
}
