import FoundationEssentials
import GateCore
import Statistics

/// Memory over the share of a run that has passed (0 to 1), as a program of that kind has it, with noise from a seed.
struct SyntheticCurve: Sendable, CustomTestStringConvertible {
  let name: String
  let level: @Sendable (_ share: Double, _ noise: inout Noise) -> Double

  var testDescription: String { name }

  init(_ name: String, level: @escaping @Sendable (_ share: Double, _ noise: inout Noise) -> Double) {
    (self.name, self.level) = (name, level)
  }

  /// A recording of 4 s with a reading each 10 ms, in whole pages.
  func recording(seed: UInt64) -> Recording {
    var noise = Noise(seed: seed)
    return Curves.recording { second in (level(second / 4, &noise) / 4096).rounded() * 4096 }
  }
}
