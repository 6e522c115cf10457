/// The smallest change that a comparison can detect.
package enum Detection {
  /// The smallest shift that the rank test detects with a power of 0.9 at a significance of 0.01.
  ///
  /// max(f q, `allowed` + 1.28 q) with q = σ √(1/n + 1/m): the limit by noise, or the tolerance and the error of the
  /// estimated shift (z = 1.28 for 0.9). See ``factor(_:_:)`` for f. If `hasStatistics` is false, only the tolerance
  /// counts.
  ///
  /// `deviation` is the standard deviation of the values (σ), `allowed` the tolerance in the same unit; `first` and
  /// `second` are the counts of values (n, m).
  package static func smallestShift(
    deviation: Double,
    _ first: Int,
    _ second: Int,
    allowed: Double,
    hasStatistics: Bool = true
  ) -> Double {
    guard first > 0, second > 0 else { return allowed }
    let error = deviation * (1 / Double(first) + 1 / Double(second)).squareRoot()
    return max(hasStatistics ? factor(first, second) * error : 0, allowed + 1.28 * error)
  }

  /// The number of standard errors of a shift that the exact rank test detects at 0.01 with a power of 0.9.
  ///
  /// For very many values it is z(.99) + z(.9) = 3.6, as in the normal test; for few values the rank test needs more:
  /// 4.9 for 5 against 5, 4.3 for 5 against 10, 4.0 for 10 against 10, 3.85 for 20 against 20 (simulated with normal
  /// noise). In between it is interpolated linearly in the reciprocal of the harmonic mean of the counts.
  package static func factor(_ first: Int, _ second: Int) -> Double {
    let reciprocal = (1 / Double(first) + 1 / Double(second)) / 2
    let known: [(at: Double, factor: Double)] = [(0, 3.6), (0.05, 3.85), (0.1, 4), (0.15, 4.3), (0.2, 4.9)]
    let index = known.dropLast().lastIndex { $0.at <= reciprocal } ?? 0
    let (low, high) = (known[index], known[index + 1])
    return low.factor + (high.factor - low.factor) * (reciprocal - low.at) / (high.at - low.at)
  }

  /// The standard deviation within two sets of values whose medians may differ.
  package static func pooledDeviation(_ first: [Double], _ second: [Double]) -> Double {
    func distances(_ values: [Double]) -> [Double] {
      let center = Spread.median(values) ?? 0
      return values.map { $0 - center }
    }
    return Spread.noise(distances(first) + distances(second))
  }
}
