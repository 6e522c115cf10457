/// Medians and spreads of plain numbers.
package enum Spread {
  /// The middle value, or the mean of the middle two; nil where there are none.
  package static func median(_ values: [Double]) -> Double? {
    quantile(values, 0.5)
  }

  /// The value below which a share of the values lies, by linear interpolation (Hyndman and Fan's type 7).
  package static func quantile(_ values: [Double], _ share: Double) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let position = Double(sorted.count - 1) * min(max(share, 0), 1)
    let lower = Int(position)
    guard lower + 1 < sorted.count else { return sorted[lower] }
    return sorted[lower] + (sorted[lower + 1] - sorted[lower]) * (position - Double(lower))
  }
}
