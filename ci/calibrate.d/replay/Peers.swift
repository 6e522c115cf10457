import Glibc
import Statistics

/// Rules of other tools, with one value for each repetition; each returns whether it would raise an alarm.
package enum Peers {
  /// The median rose by more than 5 %.
  package static func threshold(_ baseline: [Double], _ current: [Double]) -> Bool {
    guard let before = Spread.median(baseline), let now = Spread.median(current) else { return false }
    return now > 1.05 * before
  }

  /// The mean rose by more than 5 % above that of the last run, which had the same number of repetitions.
  package static func lastRun(_ last: [Double], _ current: [Double]) -> Bool {
    mean(current) > 1.05 * mean(last)
  }

  /// The mean is higher, with Welch's t-test (1947) at 0.05, two-sided.
  package static func welch(_ baseline: [Double], _ current: [Double]) -> Bool {
    let (first, second) = (squaredError(baseline), squaredError(current))
    let rise = mean(current) - mean(baseline)
    guard rise > 0 else { return false }
    guard first + second > 0 else { return true }
    // Degrees of freedom according to Satterthwaite (1946).
    let parts = first * first / Double(baseline.count - 1) + second * second / Double(current.count - 1)
    let freedom = (first + second) * (first + second) / parts
    return StudentT.twoSidedChance(of: rise / (first + second).squareRoot(), freedom: freedom) < 0.05
  }

  private static func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(values.count)
  }

  /// The square of the mean's standard error.
  private static func squaredError(_ values: [Double]) -> Double {
    let center = mean(values)
    let sum = values.reduce(0) { $0 + ($1 - center) * ($1 - center) }
    return sum / Double(values.count - 1) / Double(values.count)
  }
}

/// Student's t distribution.
package enum StudentT {
  /// The probability of a value at least as far from zero: I(ν/(ν + t²); ν/2, 1/2) (NIST DLMF 8.17).
  package static func twoSidedChance(of t: Double, freedom: Double) -> Double {
    incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5)
  }

  /// The regularised incomplete beta function I(x; a, b) by its continued fraction (NIST DLMF 8.17.22, 8.17.4).
  private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    // The fraction converges fast below this point; above it use the mirrored one.
    guard x <= (a + 1) / (a + b + 2) else { return 1 - incompleteBeta(1 - x, b, a) }
    let beta: Double = lgamma(a) + lgamma(b) - lgamma(a + b)
    let power: Double = a * log(x) + b * log(1 - x)
    return exp(power - beta) / a * continuedFraction(x, a, b)
  }

  /// Evaluated with the method of Lentz (1976), to the last bits of a double.
  private static func continuedFraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
    func term(_ index: Int) -> Double {
      let m = Double(index / 2)
      let place: Double = a + 2 * m
      if index.isMultiple(of: 2) { return m * (b - m) * x / ((place - 1) * place) }
      return -(a + m) * (a + b + m) * x / (place * (place + 1))
    }
    var (numerator, denominator, value) = (1.0, 0.0, 1.0)
    for index in 1...500 {
      denominator = 1 / (1 + term(index) * denominator)
      numerator = 1 + term(index) / numerator
      value *= numerator * denominator
      if abs(numerator * denominator - 1) < 1e-15 { break }
    }
    return 1 / value
  }
}
