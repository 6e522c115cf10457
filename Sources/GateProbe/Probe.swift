package import GateCore
package import LinuxSystem

/// Runs scenarios on this machine and measures the memory of their targets.
package struct Probe: Sendable {
  private let interruption: Interruption
  private let environment: [String: String]

  /// Creates a probe.
  ///
  /// - Parameters:
  ///   - interruption: what ends a repetition early.
  ///   - environment: the runner's own: the source of `PATH`, `HOME`, `TMPDIR` and of variables that targets inherit.
  package init(interruption: Interruption, environment: [String: String]) {
    self.interruption = interruption
    self.environment = environment
  }

  /// The accuracy of the machine's counters; nil if it cannot be determined.
  package var counters: CounterCheck? { Machine.counters }

  /// The CPUs that targets may use, in ascending order.
  package var usableCPUs: [Int] { LinuxCalls.usableCPUs() }

  /// Notes on a less exact method, if this machine imposes one, and on conditions that may distort a scenario's values.
  package func notes(on scenario: Scenario) -> [MachineNote] {
    Capabilities.current.notes(for: scenario) + MachineState.now().notes(for: scenario)
  }

  /// The properties of this machine that a scenario's values depend on.
  package func fingerprint(for scenario: Scenario) -> Fingerprint {
    Machine.fingerprint(for: scenario, environment: environment)
  }

  /// Runs a scenario once, on the caller's thread; a failing target also yields a recording.
  ///
  /// At most 16 MiB of the target's output are copied to `outputFile`, whose folder must exist. Returns nil after an
  /// interruption: all processes are stopped then, and the teardown has run.
  package func measure(_ scenario: Scenario, output outputFile: String?) -> Recording? {
    let variables = TargetEnvironment(for: scenario.target, runner: environment).variables
    let settings = Repetition.Settings(
      environment: variables,
      temporaryFolder: environment["TMPDIR"] ?? "/tmp",
      outputFile: outputFile,
      method: Machine.method(for: scenario)
    )
    let recording: Recording
    do throws(SystemFailure) {
      let interrupted = try Wakeup()
      let repetition = try Repetition(
        of: scenario,
        settings: settings,
        interruption: interruption,
        interrupted: interrupted
      )
      recording = interruption.whileWatching(with: { interrupted.raise() }, body: { repetition.run() })
    } catch {
      let failure = Failure(part: Failure.Part(.start), problem: .system(failure: error), place: scenario.place)
      recording = Recording(
        end: End(.startFailed, cause: .startFailed(problem: .system(failure: error))), failure: failure)
    }
    return interruption.signal == nil ? recording : nil
  }
}
