package import GateCore
import GateProbe

/// Runs and records scenarios: this machine, or a script in tests.
package protocol Measurer: Sendable {
  /// Checks that targets can be measured here; returns the path of a temporary folder that lasts as long as this object.
  func prepare() throws(MachineRestriction) -> String

  /// Runs a scenario once and copies the target's output to the file `output`.
  ///
  /// After an interruption the result is nil, unless it `keepsInterrupted`: then a target that was still running was
  /// stopped, and the recording has the failure `interrupted`.
  func measure(_ scenario: Scenario, output: String?, keepsInterrupted: Bool) -> Recording?

  /// The fingerprint of this machine for a scenario.
  func fingerprint(for scenario: Scenario) -> Fingerprint

  /// Notes on measuring a scenario on this machine.
  func notes(on scenario: Scenario) -> [MachineNote]

  /// What limits the profiler on this machine.
  var profilerLimits: ProfilerLimits { get }

  /// How the memory of targets can be limited here.
  var memoryLimiting: MemoryLimiting { get }

  /// The accuracy of the machine's counters; nil if it cannot be checked.
  var counters: CounterCheck? { get }

  /// The CPUs that targets may use, in order.
  var usableCPUs: [Int] { get }
}

extension Probe: Measurer {}

extension EnvironmentRule {
  /// The environment of a scenario, with the name under which its baselines are stored.
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
