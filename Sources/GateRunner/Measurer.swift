package import GateCore
import GateProbe

/// Runs a scenario once and measures it.
///
/// The program uses ``GateProbe/Probe``. Tests of the use cases return scripted recordings.
package protocol Measurer: Sendable {
  /// Runs a scenario once, and copies the target's output to a file whose folder exists.
  ///
  /// - Returns: what was seen; nil where an interruption ended the run.
  func measure(_ scenario: Scenario, output: String?) -> Recording?

  /// What the measurements of a scenario depend on, on this machine.
  func fingerprint(for scenario: Scenario) -> Fingerprint

  /// What limits the measurement of a scenario on this machine: each a sentence with cause and remedy.
  func remarks(on scenario: Scenario) -> [String]

  /// How exact the kernel's memory counters are; nil where that is unknown.
  var counters: CounterCheck? { get }

  /// The CPUs that targets may use, in ascending order.
  var usableCPUs: [Int] { get }
}

extension Probe: Measurer {}
