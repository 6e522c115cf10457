/// The two modes of bimodal values, between which a program jumps from run to run.
///
/// Allocators and garbage collectors cause them: an A/A comparison of such values by ranks alone is undecided in 21 to
/// 38 % of all cases, and the minimum of several values ignores the higher mode.
package struct Modes: Sendable, Equatable {
  package let low: [Double]
  package let high: [Double]
  /// The medians of both modes.
  package let levels: (low: Double, high: Double)

  /// The two modes of these values; nil if there are not two.
  ///
  /// They are split at the widest gap that leaves at least two values on each side, and are two where that gap is wider
  /// than three times the wider side's range. At least ten values are needed: then fewer than 0.1 % of normal samples
  /// are taken for bimodal (of five values 3.4 % would be), and 98 % of those with half of the values at each mode are
  /// found.
  package init?(of values: [Double]) {
    guard values.count >= 10 else { return nil }
    let sorted = values.sorted()
    let cuts = 2...(sorted.count - 2)
    guard let cut = cuts.max(by: { sorted[$0] - sorted[$0 - 1] < sorted[$1] - sorted[$1 - 1] }) else { return nil }
    let (low, high) = (Array(sorted[..<cut]), Array(sorted[cut...]))
    let range = max(sorted[cut - 1] - sorted[0], sorted[sorted.count - 1] - sorted[cut])
    guard sorted[cut] - sorted[cut - 1] > 3 * range, let lower = Spread.median(low), let upper = Spread.median(high)
    else { return nil }
    self.low = low
    self.high = high
    levels = (lower, upper)
  }

  /// The two levels that a series alternates between; nil if there are not two.
  ///
  /// They are split so that the squared distances from both means are least (Otsu 1979), each has at least three values,
  /// they are six standard deviations apart, and the series changes between them at least six times and half as often as
  /// by chance (Wald and Wolfowitz 1940), which a step does not. Of 300 series each of 60 normal and heavy-tailed values
  /// (t, 3 degrees), 0 and 2 had levels with four changes instead of six (our simulation, 2026-11). A series is longer than
  /// the values of a comparison, so its noise is known better.
  init?(alternatingIn values: ArraySlice<Double>, least: (_ level: Double) -> Double) {
    let (fewest, sorted) = (3, values.sorted())
    guard sorted.count >= 10 else { return nil }
    let center = sorted[sorted.count / 2]
    let sums = sorted.reduce(into: [0.0]) { $0.append(($0.last ?? 0) + $1 - center) }
    let squares = sorted.reduce(0) { $0 + ($1 - center) * ($1 - center) }
    func between(_ cut: Int) -> Double {
      let rest = sums[sorted.count] - sums[cut]
      return sums[cut] * sums[cut] / Double(cut) + rest * rest / Double(sorted.count - cut)
    }
    let cut = (fewest...sorted.count - fewest).max { between($0) < between($1) } ?? fewest
    (low, high) = (Array(sorted[..<cut]), Array(sorted[cut...]))
    levels = (Spread.median(low) ?? 0, Spread.median(high) ?? 0)
    let deviation = (max(0, squares - between(cut)) / Double(sorted.count - 2)).squareRoot()
    let changes = zip(values, values.dropFirst()).count { isHigh($0) != isHigh($1) }
    guard gap > max(6 * deviation, least(levels.low)), changes >= max(6, low.count * high.count / sorted.count)
    else { return nil }
  }

  /// The values with the high mode moved to the low one.
  func aligned(_ values: [Double]) -> [Double] {
    values.map { isHigh($0) ? $0 - gap : $0 }
  }

  /// The distance between the modes.
  package var gap: Double { levels.high - levels.low }

  /// Whether a value is nearer to the high mode.
  package func isHigh(_ value: Double) -> Bool {
    value > (levels.low + levels.high) / 2
  }

  /// The distance of each value from its nearer mode, so that values of both can be ranked together (aligned ranks,
  /// Hodges and Lehmann 1962).
  package func distances(of values: [Double]) -> [Double] {
    values.map { $0 - (isHigh($0) ? levels.high : levels.low) }
  }

  package static func == (lhs: Modes, rhs: Modes) -> Bool {
    lhs.low == rhs.low && lhs.high == rhs.high
  }
}
