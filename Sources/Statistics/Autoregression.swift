/// A level from which values wander: each depends on the one before it (an autoregression of the first order).
///
/// It tells a step from runs that depend on each other, such as those of a machine whose state lasts: these also have
/// long stretches above and below their level.
struct Autoregression {
  /// The number of pairs of neighbours.
  private var count = 0.0
  /// The sums of squares of the first and of the second values of pairs, and of their products, about the means.
  private var (first, second, products) = (0.0, 0.0, 0.0)

  init(_ values: ArraySlice<Double>) {
    let pairs = zip(values, values.dropFirst())
    count = Double(values.count - 1)
    let sums = pairs.reduce((0.0, 0.0)) { ($0.0 + $1.0, $0.1 + $1.1) }
    for (one, next) in pairs {
      let (one, next) = (one - sums.0 / count, next - sums.1 / count)
      first += one * one
      second += next * next
      products += one * next
    }
  }

  /// The least squares that remain unexplained; a negative dependence explains nothing.
  private var rest: Double {
    first > 0 && products > 0 ? max(0, second - products * products / first) : second
  }

  /// The likelihood ratio (twice the logarithm) of a step between two adjacent parts to one level.
  ///
  /// The parts have levels of their own, but their values depend in the same way on those before. With n pairs and the
  /// unexplained squares A of one level and B of two, it is (n − ½) ln(A / B), or a little less: with z = (A − B) / (A + B)
  /// the logarithm is 2 (z + z³/3 + …), of which two terms count. With one, it is at most 2 for each pair, so that no step
  /// between levels of five runs is found in 64 runs. Half a pair less makes up for the second term in series whose runs depend on
  /// each other: as many of 3,000 as with one term have a step (our simulation, 2026-11).
  static func strength(ofStepBetween before: ArraySlice<Double>, and after: ArraySlice<Double>) -> Double {
    let (one, other) = (Autoregression(before + after), Autoregression(after))
    var two = Autoregression(before)
    two.first += other.first
    two.second += other.second
    two.products += other.products
    let gain = one.rest - two.rest
    guard gain > 1e-12 * one.rest else { return 0 }
    let share = gain / (one.rest + two.rest)
    return (2 * one.count - 1) * share * (1 + share * share / 3)
  }
}
