/// A slow rise over many runs, each of which was too small to be seen.
package struct Creep: Sendable, Equatable {
  /// The lowest level that was held for ``sustained`` values: a lower one would be the luck of a few runs.
  package let anchor: Double
  /// The middle of the values that the anchor is the level of.
  package let anchorIndex: Int
  /// The level of the last ``recent`` values.
  package let level: Double

  package var rise: Double { level - anchor }

  /// How many values in a row make a level that can be an anchor, and how many make the present level.
  ///
  /// With 5 and 3 instead, 35 % of quiet series were flagged at a deviation of 2 % (our simulation, 2026-11).
  package static let sustained = 10
  package static let recent = 5

  /// The deviations by which a rise must exceed what is tolerated at once: the lowest of many levels lies below what
  /// they are on average, the last one anywhere.
  ///
  /// None of 1,000 quiet series of 60 values was flagged at each of the deviations 0.5, 1, 2 and 4 % and a tolerance of
  /// 3 %; after each of their runs looked at, 0.7 % were at 4 %, and none at less. A rise of 0.3 % a run after 20 quiet
  /// ones was found in all, after 16, 19, 25 and 35 runs in the median; one of 0.1 % within 60 runs in 100, 92, 34 and
  /// 9 % (our simulation, 2026-11; a small version is a test).
  static let deviations = 2.5

  /// The rule for all creep: the rise exceeds what is tolerated at once and ``deviations`` of the values' noise.
  package static func isCreep(_ rise: Double, tolerated: Double, noise: Double) -> Bool {
    rise > tolerated + deviations * noise
  }

  /// Looks for creep in values in the order of time; nil where there is none, or too few values to tell.
  ///
  /// At most one value of each level may be nearer to the other one: values that jump between two levels do not creep
  /// when a few in a row are at the higher one. Without that 19 % of 1,000 series of 60 runs at each level half of the
  /// time were flagged at a tolerance of 3 % (our simulation, 2026-11). A single step looks like creep here; see
  /// ``ChangePoints/withoutSteps(_:_:)``.
  ///
  /// - Parameters:
  ///   - values: One for each run.
  ///   - tolerance: What is tolerated at once above a level.
  package init?(_ values: [Double], tolerance: (_ level: Double) -> Double) {
    guard values.count >= Self.sustained + Self.recent, let level = Spread.median(Array(values.suffix(Self.recent)))
    else { return nil }
    let levels = (0...values.count - Self.sustained).compactMap { start in
      Spread.median(Array(values[start..<start + Self.sustained])).map { (start: start, level: $0) }
    }
    // Of equal ones the one with the lowest values in all: the others reach back before a fall.
    func sum(_ start: Int) -> Double { values[start..<start + Self.sustained].reduce(0, +) }
    let lowest = levels.min { ($0.level, sum($0.start)) < ($1.level, sum($1.start)) }
    guard let lowest else { return nil }
    guard Self.isCreep(level - lowest.level, tolerated: tolerance(lowest.level), noise: Self.noise(of: values))
    else { return nil }
    let middle = (level + lowest.level) / 2
    guard values[lowest.start..<lowest.start + Self.sustained].count(where: { $0 > middle }) <= 1,
      values.suffix(Self.recent).count(where: { $0 < middle }) <= 1
    else { return nil }
    self.anchor = lowest.level
    self.anchorIndex = lowest.start + Self.sustained / 2
    self.level = level
  }

  /// The deviation of the values from one run to the next, which neither creep nor a few steps among them can move.
  ///
  /// A difference of two values has √2 times the deviation of one (von Neumann 1941; by the robust estimate of
  /// ``Spread/noise(_:)`` instead of the mean square).
  static func noise(of values: [Double]) -> Double {
    Spread.noise(zip(values.dropFirst(), values).map { $0 - $1 }) / 2.0.squareRoot()
  }
}
