/// A slope with its 95 % confidence interval.
package struct SlopeInterval: Sendable, Equatable {
  package let slope: Double
  /// Not above the slope.
  package let low: Double
  /// Not below the slope.
  package let high: Double

  /// The slope by ``Slope/theilSen(x:y:)`` with its interval by a moving-block bootstrap of the residuals (Künsch 1989);
  /// nil for fewer than two distinct x, which must be ascending.
  ///
  /// The slope of a resampled curve is the slope plus that of the resampled residuals. The seed is fixed: the same curve
  /// yields the same interval, bit for bit, on any machine.
  package init?(x: [Double], y: [Double]) {
    guard let slope = Slope.theilSen(x: x, y: y) else { return nil }
    let curve = Slope.downsampled(x: x, y: y, to: Self.points)
    let deviations = Self.deviations(of: zip(curve.x, curve.y).map { $1 - slope * $0 }, over: curve.x)
    let outside = deviations.count / 40
    self.slope = slope
    low = slope + min(0, deviations.dropFirst(outside).first ?? 0)
    high = slope + max(0, deviations.dropLast(outside).last ?? 0)
  }

  /// The points of resampled curves; the cost grows with their square.
  private static let points = 48

  /// With 199, the fifth smallest and the fifth largest are the ends of the 95 % interval.
  private static let resamplings = 199

  /// The differences between the slopes of resampled curves and the slope, sorted.
  ///
  /// They are widened by √(k / (k − 2)) for k blocks, because the fitted line takes two degrees of freedom from the
  /// residuals: of 600 level curves each with white and with AR(.95) noise 94 and 88 % had zero in their intervals
  /// without it, and 96 and 93 % with it (simulated, 2026-11).
  private static func deviations(of residuals: [Double], over x: [Double]) -> [Double] {
    let length = BlockBootstrap.blockLength(of: residuals)
    let blocks = max(3, Double(residuals.count) / Double(length))
    let widening = (blocks / (blocks - 2)).squareRoot()
    var numbers = SeededNumbers(seed: 1989)
    var slopes: [Double] = []
    return (0..<resamplings).compactMap { _ in
      let drawn = BlockBootstrap.resample(residuals, length: length, using: &numbers)
      return Slope.theilSen(x: x, y: drawn, slopes: &slopes).map { $0 * widening }
    }.sorted()
  }
}
