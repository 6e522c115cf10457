/// The variation of a program's measurements from repetition to repetition.
package struct Noise: Sendable {
  package let name: String
  /// Values around 1 in order of measurement: this many for a baseline, and this many after it.
  private let make: @Sendable (_ baseline: Int, _ current: Int, _ chance: inout Chance) -> [Double]
  /// In bytes; memory comes in pages, or in larger chunks from some allocators.
  private let piece: Double

  private init(
    _ name: String,
    piece: Double = 4096,
    make: @escaping @Sendable (_ baseline: Int, _ current: Int, _ chance: inout Chance) -> [Double]
  ) {
    (self.name, self.piece, self.make) = (name, piece, make)
  }

  /// The values of a baseline and later values, at a level in bytes; the later values are `factor` times as high.
  package func values(
    _ baseline: Int,
    _ current: Int,
    level: Double,
    factor: Double = 1,
    _ chance: inout Chance
  ) -> (baseline: [Double], current: [Double]) {
    let all = make(baseline, current, &chance)
    func bytes(_ values: ArraySlice<Double>, _ level: Double) -> [Double] {
      values.map { ($0 * level / piece).rounded() * piece }
    }
    return (bytes(all[..<baseline], level), bytes(all[baseline...], level * factor))
  }
}

extension Noise {
  /// Independent normal values with this coefficient of variation (deviation divided by the mean) in percent.
  package static func normal(_ percent: Double) -> Noise {
    Noise("normal, CV \(text(percent)) %") { baseline, current, chance in
      (0..<baseline + current).map { _ in 1 + percent / 100 * chance.normal() }
    }
  }

  /// Two levels, 58.4 and 66.4 MB as in a real program, with 0.5 % of noise around each.
  package static func bimodal(_ highShare: Double) -> Noise {
    Noise("two levels, \(text(100 - 100 * highShare)):\(text(100 * highShare))") { baseline, current, chance in
      (0..<baseline + current).map { _ in
        (chance.uniform() < highShare ? 66.4 / 58.4 : 1) * (1 + 0.005 * chance.normal())
      }
    }
  }

  package static let heavyTailed = Noise("heavy tails (t, 3 degrees), CV 1 %") { baseline, current, chance in
    (0..<baseline + current).map { _ in 1 + 0.01 * chance.heavyTailed() }
  }

  package static let outliers = Noise("one in ten is 20 % higher") { baseline, current, chance in
    (0..<baseline + current).map { _ in (chance.uniform() < 0.1 ? 1.2 : 1) * (1 + 0.005 * chance.normal()) }
  }

  /// A machine that fills its caches or fragments: baseline and all later values lie on one line.
  package static let drifting = Noise("drift of 1 % over all, CV 0.5 %") { baseline, current, chance in
    let count = baseline + current
    return (0..<count).map { 1 + 0.01 * Double($0) / Double(count - 1) + 0.005 * chance.normal() }
  }

  /// Each value depends on the previous one by nine tenths: AR(1), stationary.
  package static let wandering = wandering(0.9)

  /// Each value depends on the previous one by this factor.
  package static func wandering(_ factor: Double) -> Noise {
    Noise("wandering (AR(1) \(factor)), CV 1 %") { baseline, current, chance in
      var value = chance.normal()
      return (0..<baseline + current).map { _ in
        defer { value = factor * value + (1 - factor * factor).squareRoot() * chance.normal() }
        return 1 + 0.01 * value
      }
    }
  }

  package static let pages = Noise("a page or two (many equal values)") { baseline, current, chance in
    (0..<baseline + current).map { _ in 1 + 0.00007 * chance.normal() }
  }

  package static let slabs = Noise("pieces of 1 MiB, CV 1 %", piece: 1_048_576) { baseline, current, chance in
    (0..<baseline + current).map { _ in 1 + 0.01 * chance.normal() }
  }

  /// The first value of the baseline and of the later values is 12 % higher, as without a warm-up.
  package static let firstDiffers = Noise("the first is 12 % higher, CV 0.5 %") { baseline, current, chance in
    (0..<baseline + current).map { ($0 == 0 || $0 == baseline ? 1.12 : 1) * (1 + 0.005 * chance.normal()) }
  }

  /// All shapes of the tables.
  package static let all: [Noise] =
    [0.1, 0.5, 1, 2, 3, 5].map(normal) + [
      bimodal(0.5), bimodal(0.2), heavyTailed, outliers, drifting, wandering, pages, slabs, firstDiffers,
    ]
}

/// A number in its shortest form, as in `0.5` and `20`.
func text(_ number: Double) -> String {
  let rounded = (number * 10).rounded() / 10
  return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
}
