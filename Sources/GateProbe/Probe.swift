package import GateCore
package import LinuxSystem

/// Runs scenarios on this machine, and measures the memory of their targets.
package struct Probe: Sendable {
  private let interruption: Interruption
  private let environment: [String: String]

  /// Makes a probe.
  ///
  /// - Parameters:
  ///   - interruption: what ends a repetition early.
  ///   - environment: the runner's own, for `PATH`, `HOME`, `TMPDIR` and what targets inherit by name.
  package init(interruption: Interruption, environment: [String: String]) {
    self.interruption = interruption
    self.environment = environment
  }

  /// How exact the machine's counters are; nil where that cannot be seen.
  package var counters: CounterCheck? { Machine.counters }

  /// The CPUs that targets may use here, in order.
  package var usableCPUs: [Int] { LinuxCalls.usableCPUs() }

  /// How a scenario is measured on this machine, where that is not the best way, and what may distort its values.
  package func notes(on scenario: Scenario) -> [MachineNote] {
    Capabilities.here.notes(for: scenario) + MachineState.now().notes(for: scenario)
  }

  /// What the values of a scenario's target depend on, on this machine.
  package func fingerprint(for scenario: Scenario) -> Fingerprint {
    Machine.fingerprint(for: scenario, environment: environment)
  }

  /// Runs a scenario once, on the caller's thread, and returns what was seen; a target that fails is a result, too.
  ///
  /// At most 16 MiB of the target's output are copied to `outputFile`, whose folder must exist. The result is nil where
  /// the runner was asked to end: everything was stopped then, and the teardown was run.
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
      recording = interruption.whileWatching(with: { interrupted.raise() }, body: { repetition.play() })
    } catch {
      let failure = Failure(part: Failure.Part(.start), problem: .system(error), place: scenario.place)
      recording = Recording(end: End(.startFailed, cause: .startFailed(.system(error))), failure: failure)
    }
    return interruption.signal == nil ? recording : nil
  }
}
