/// The median, quantiles and robust deviations of numbers.
package enum Spread {
  /// The middle value, or the mean of the middle two; nil for no values.
  package static func median(_ values: [Double]) -> Double? {
    quantile(values, 0.5)
  }

  /// The quantile for a share from 0 to 1, with linear interpolation (Hyndman and Fan 1996, type 7).
  package static func quantile(_ values: [Double], _ share: Double) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let position = Double(sorted.count - 1) * min(max(share, 0), 1)
    let lower = Int(position)
    guard lower + 1 < sorted.count else { return sorted[lower] }
    return sorted[lower] + (sorted[lower + 1] - sorted[lower]) * (position - Double(lower))
  }

  /// The median absolute deviation times 1.4826: a robust estimate of the standard deviation of normal values (Hampel
  /// 1974).
  static func scaledMAD(_ values: [Double]) -> Double? {
    guard let center = median(values), let deviation = median(values.map { abs($0 - center) }) else { return nil }
    return 1.4826 * deviation
  }

  /// A robust estimate of the standard deviation of normal values: the larger of ``scaledMAD(_:)`` and the interquartile
  /// range over 1.349.
  ///
  /// Either alone is zero if many values are equal, as counts of pages often are.
  package static func noise(_ values: [Double]) -> Double {
    guard let deviation = scaledMAD(values), let low = quantile(values, 0.25), let high = quantile(values, 0.75)
    else { return 0 }
    return max(deviation, (high - low) / 1.349)
  }
}
