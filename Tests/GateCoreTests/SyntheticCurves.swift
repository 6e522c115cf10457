import Foundation
import GateCore
import Statistics
import Testing

/// Random values of one synthetic run, reproducible from a seed.
struct Noise {
  private var numbers: SeededNumbers
  private var autoregression = 0.0
  /// Drawn once per run, in 0..<1.
  let trait: Double
  let otherTrait: Double

  init(seed: UInt64) {
    numbers = SeededNumbers(seed: seed)
    (trait, otherTrait) = (numbers.nextShare(), numbers.nextShare())
  }

  mutating func share() -> Double { numbers.nextShare() }

  /// Approximately normal with deviation 1.
  mutating func gaussian() -> Double { (0..<12).reduce(-6) { sum, _ in sum + numbers.nextShare() } }

  /// First-order autoregression, AR(.95), of deviation 1.
  mutating func autoregressive() -> Double {
    autoregression = 0.95 * autoregression + 0.312_25 * gaussian()
    return autoregression
  }
}

/// Memory as a function of the elapsed share of a run (0 to 1), with seeded noise.
struct SyntheticCurve: Sendable, CustomTestStringConvertible {
  let name: String
  let level: @Sendable (_ share: Double, _ noise: inout Noise) -> Double

  var testDescription: String { name }

  init(_ name: String, level: @escaping @Sendable (_ share: Double, _ noise: inout Noise) -> Double) {
    (self.name, self.level) = (name, level)
  }

  /// A recording of 10 s with a sample each 10 ms, in whole pages.
  func recording(seed: UInt64) -> Recording {
    var noise = Noise(seed: seed)
    return Curves.recording({ second in (level(second / 10, &noise) / 4096).rounded() * 4096 }, seconds: 10)
  }

  func results(seeds: Range<UInt64>) -> [RepetitionResult] { seeds.map { recording(seed: $0).result() } }
}

private let (mebibyte, kibibyte) = (1_048_576.0, 1024.0)

/// The elapsed part (0 to 1) of the current tooth.
private func tooth(_ share: Double, length: Double, from phase: Double) -> Double {
  let turns = share / length + phase
  return turns - turns.rounded(.down)
}

extension SyntheticCurve {
  static let plateau = SyntheticCurve("a plateau") { _, noise in 30 * mebibyte + 100 * kibibyte * noise.gaussian() }

  static let wanderingPlateau = SyntheticCurve("a plateau under AR(.95) noise") { _, noise in
    30 * mebibyte + 300 * kibibyte * noise.autoregressive()
  }

  static let warmup = SyntheticCurve("an exponential warm-up") { share, noise in
    30 * mebibyte * (1 - exp(-share / (0.02 + 0.06 * noise.trait))) + 100 * kibibyte * noise.gaussian()
  }

  static let stairs = SyntheticCurve("a warm-up in steps") { share, noise in
    let stair = (share / (0.1 + 0.3 * noise.trait) * 5).rounded(.down) / 5
    return (10 + 20 * min(1, stair)) * mebibyte + 60 * kibibyte * noise.gaussian()
  }

  /// Teeth of 2 to 15 % of the run.
  static let sawtooth = SyntheticCurve("the sawtooth of a collected heap, 30 MiB high") { share, noise in
    (50 + 30 * tooth(share, length: 0.02 + 0.13 * noise.trait, from: noise.otherTrait)) * mebibyte
  }

  static let step = SyntheticCurve("one step of up to 4 MiB") { share, noise in
    (30 + (share > 0.2 + 0.5 * noise.trait ? 4 * noise.otherTrait : 0)) * mebibyte + 30 * kibibyte * noise.gaussian()
  }

  static let spikes = SyntheticCurve("spikes of 20 MiB in one reading of twenty") { _, noise in
    (30 + (noise.share() < 0.05 ? 20 : 0)) * mebibyte + 30 * kibibyte * noise.gaussian()
  }

  static let fill = SyntheticCurve("a cache that fills logarithmically") { share, noise in
    (30 + 4 * log(1 + share / (0.001 + 0.1 * noise.trait))) * mebibyte + 100 * kibibyte * noise.gaussian()
  }

  static let saturation = SyntheticCurve("a cache that is nearly full") { share, noise in
    (30 + 20 * (1 - exp(-share / 0.3))) * mebibyte + 100 * kibibyte * noise.gaussian()
  }

  static let leak = SyntheticCurve("a leak of 2.4 MiB under noise") { share, noise in
    (30 + 2.4 * share) * mebibyte + 300 * kibibyte * noise.gaussian()
  }

  static let leakAfterWarmup = SyntheticCurve("a leak of 2.4 MiB after a warm-up") { share, noise in
    let start = 30 * (1 - exp(-share / (0.02 + 0.04 * noise.trait)))
    return (start + 2.4 * share) * mebibyte + 100 * kibibyte * noise.gaussian()
  }

  static let slabs = SyntheticCurve("a leak of 2.4 MiB by slabs of 132 KiB") { share, noise in
    let slab = 132 * kibibyte
    return 30 * mebibyte + (2.4 * share * mebibyte / slab).rounded(.down) * slab + 30 * kibibyte * noise.gaussian()
  }

  static let steepLeak = SyntheticCurve("a leak of 40 MiB") { share, _ in (30 + 40 * share) * mebibyte }

  static let fall = SyntheticCurve("memory that falls steadily") { share, noise in
    (40 - 20 * share) * mebibyte + 100 * kibibyte * noise.gaussian()
  }
}
