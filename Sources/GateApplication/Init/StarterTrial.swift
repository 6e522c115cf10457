import GateCore

/// Runs the program of a starter to find a scenario that runs.
struct StarterTrial {
  let measurer: any Measurer
  /// Variables of services, if they run with them.
  var variables: [String: String] = [:]
  /// Paths that a service may answer besides `/`, likeliest first.
  var routes: () -> [String] = { [] }

  enum Outcome {
    /// After the time that it took if it ended by itself.
    case works(Scenario, after: Duration?)
    /// The program fails by itself.
    case fails(Failure)
    case interrupted
  }

  /// Runs the program as it is, then as a service with each scenario that its sockets suggest until one passes.
  ///
  /// A program that ends by itself needs no further run: the scenario waits for its end. One without a socket gets a minute
  /// for that: as a service it would be stopped in the middle of its work, and a rise after that would pass.
  func outcome(for scenario: Scenario) -> Outcome {
    guard let recording = measure(scenario.exploring) else { return .interrupted }
    guard recording.stopRequested != nil else { return outcome(of: recording, ended: scenario) }
    if recording.listeners.isEmpty {
      guard let whole = measure(scenario) else { return .interrupted }
      if whole.end.kind != .timeout { return outcome(of: whole, ended: scenario) }
    }
    return outcome(forService: scenario, like: recording)
  }

  private func outcome(of recording: Recording, ended scenario: Scenario) -> Outcome {
    var ended = recording
    // The steps do not matter to a program that ends by itself.
    if recording.end.kind != .startFailed { ended.failure = nil }
    return ended.failure(in: scenario, loop: nil).map(Outcome.fails) ?? .works(scenario, after: recording.duration)
  }

  private func outcome(forService scenario: Scenario, like recording: Recording) -> Outcome {
    var service = scenario
    // Some services answer a stop signal with an exit code of their own.
    if recording.end.kind == .exited, let code = recording.end.code, code != 0 { service.expect = .init(exits: [code]) }
    let plain = service
    service.target.environment.merge(variables) { own, _ in own }
    let found = outcome(for: Self.candidates(for: service, listeningOn: recording.listeners))
    guard case .fails = found, service != plain else { return found }
    // The program may refuse them, as Java does two collectors.
    return outcome(for: Self.candidates(for: plain, listeningOn: recording.listeners))
  }

  private static func candidates(for service: Scenario, listeningOn sockets: [Readiness.Condition]) -> [Scenario] {
    // The port that the program was told comes first: it is the one that scenarios can choose.
    let first = sockets.filter { if case .tcp(_, nil) = $0 { true } else { false } }
    let likely = (first + sockets.filter { !first.contains($0) }).prefix(mostSockets)
    let requests = likely.compactMap(service.requesting)
    return requests + likely.map { service.waiting(for: $0) } + [service.waiting(for: .delay(.seconds(1)))]
  }

  private static let mostSockets = 3

  /// The first scenario that passes; the failure is that of the last one.
  private func outcome(for candidates: [Scenario]) -> Outcome {
    var last = Outcome.interrupted
    for candidate in candidates {
      last = outcome(ofService: candidate)
      if case .fails = last { continue }
      return last
    }
    return last
  }

  private func outcome(ofService scenario: Scenario) -> Outcome {
    guard let recording = measure(scenario) else { return .interrupted }
    guard let failure = recording.failure(in: scenario, loop: nil) else { return outcome(withRoutesOf: scenario) }
    // A service without a page at `/` answers with 404; other errors of a server are no basis.
    guard case .http(_, .status(let status, nil), _, _) = failure.problem, status < 500 else { return .fails(failure) }
    return outcome(ofService: scenario.changingRequests { $0.expectedStatus = status })
  }

  /// Runs that fail because of a route; each takes as long as the start of the service.
  private static let mostFailedRoutes = 10

  /// The scenario of a service that works, with those of the routes that it answers.
  ///
  /// A service without a page at `/` is used by its other routes only.
  private func outcome(withRoutesOf scenario: Scenario) -> Outcome {
    var paths = (scenario.firstCall?.expectedStatus == nil ? ["/"] : []) + routes()
    for _ in 0...Self.mostFailedRoutes {
      paths = Array(paths.prefix(Scenario.mostRoutes))
      guard paths.contains(where: { $0 != "/" }) else { break }
      let candidate = scenario.requesting(paths: paths)
      guard let recording = measure(candidate) else { return .interrupted }
      guard let failure = recording.failure(in: candidate, loop: nil) else {
        return .works(
          candidate.changingRequests { $0.times = Scenario.requests(perTurnTo: paths.count) }, after: nil)
      }
      guard case .http(let url, .status, _, _) = failure.problem else { break }
      paths.removeAll { $0 != "/" && $0 == RouteText.path(ofURL: url) }
    }
    return .works(scenario.changingRequests { $0.times = Scenario.requestsPerTurn }, after: nil)
  }

  private func measure(_ scenario: Scenario) -> Recording? {
    var limited = scenario
    limited.ready?.within = .seconds(10)
    limited.timeout = .seconds(60)
    return measurer.measure(limited, output: nil, keepsInterrupted: false)
  }
}
