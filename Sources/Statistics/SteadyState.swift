/// Finds where a curve becomes steady.
package enum SteadyState {
  /// The distance from a level, as a share of it, that never counts as movement.
  package static let quietShare = 0.01

  /// Fewer values have no steady state.
  package static let fewestValues = 8

  /// The index of the first value that belongs to the steady state, by a backward scan; nil if there is none.
  ///
  /// With m the median of the last half and s its ``Spread/scaledMAD(_:)``, the curve is steady from the last
  /// value of the first half that lies further from m than max(3 s, 1 % of m, `floor`). It finds the
  /// end of an exponential or stepwise warm-up with a median error of one value; MSER-5 (White 1997) has four or more.
  ///
  /// `curve` contains medians of equal intervals. Deviations up to `floor`, in the
  /// curve's unit, never count. `slack` widens the whole band.
  package static func start(of curve: [Double], floor: Double, slack: Double = 1) -> Int? {
    guard curve.count >= fewestValues else { return nil }
    let half = curve.count / 2
    let lastHalf = Array(curve[half...])
    guard let level = Spread.median(lastHalf), let deviation = Spread.scaledMAD(lastHalf) else { return nil }
    let band = slack * max(3 * deviation, quietShare * abs(level), floor)
    guard let last = curve[..<half].lastIndex(where: { abs($0 - level) > band }) else { return 0 }
    return last + 1 < half ? last + 1 : nil
  }
}
