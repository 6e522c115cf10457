package import GateCore
import GateProbe

/// What plays scenarios and records them: this machine, or a script in tests.
package protocol Measurer: Sendable {
  /// Plays a scenario once and copies the target's output to the file `output`; nil where an interruption ended it.
  func measure(_ scenario: Scenario, output: String?) -> Recording?

  /// What the values of a scenario's target depend on, on this machine.
  func fingerprint(for scenario: Scenario) -> Fingerprint

  /// What to know about how a scenario is measured on this machine.
  func notes(on scenario: Scenario) -> [MachineNote]

  /// How exact the machine's counters are; nil where that cannot be checked.
  var counters: CounterCheck? { get }

  /// The CPUs that targets may use, in order.
  var usableCPUs: [Int] { get }
}

extension Probe: Measurer {}

extension EnvironmentRule {
  /// The environment of a scenario, with the name under which the team stores its baselines.
  func environment(of scenario: Scenario, on measurer: any Measurer) -> EnvironmentInfo {
    let fingerprint = measurer.fingerprint(for: scenario)
    return EnvironmentInfo(
      name: name ?? fingerprint.derivedName(ignoring: ignoredFields),
      fingerprint: fingerprint,
      ignoredFields: ignoredFields,
      counters: measurer.counters
    )
  }
}
