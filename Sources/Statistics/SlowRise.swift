/// Values that go from one level to another over many runs, as a line: what creep looks like (a fall is one, too).
///
/// A step is the same with no run in between. Where both are fitted by least squares the values say which it was; and
/// where a step stands within creep, both together fit better than the slow rise alone.
enum SlowRise {
  /// The fewest runs that a slow rise takes.
  ///
  /// With 10, 12, 14 and 20 of them 14, 12, 10 and 5 % of steps by 2.5 deviations amid 60 values were taken for slow
  /// rises; and of series that rose by 0.3 % a run after 20 level ones, at a deviation of 2 %, 5, 5, 6 and 10 % had steps
  /// (our simulation of 1,000 each, 2026-11).
  static let shortest = 12

  /// The deviations that a step within a slow rise must have beside it: the best of many rises leaves less of a step
  /// than there was, and the place of the step was chosen.
  static let deviations = 4.0

  /// By how many variances the best slow rise fits the values better than a step at `place`; at most zero where a step
  /// remains beside the slow rise.
  static func advantage(over place: Int, in values: ArraySlice<Double>) -> Double {
    let curve = Curve(values, step: place)
    // The sums of squares that the step, the best slow rise and the best of both explain.
    let step = curve.step.y * curve.step.y / curve.step.variance
    var (slow, both) = (0.0, 0.0)
    for start in 0..<max(0, curve.count - shortest) {
      for end in start + shortest..<curve.count {
        let rise = curve.rise(from: start, to: end)
        let explained = rise.y * rise.y / rise.variance
        slow = max(slow, explained)
        let left = curve.step.variance - rise.step * rise.step / rise.variance
        let rest = curve.step.y - rise.step / rise.variance * rise.y
        // What is left of the step must go the way that the values went.
        guard left > 1e-9 * curve.step.variance, rest * curve.step.y > 0 else { continue }
        both = max(both, explained + rest * rest / left)
      }
    }
    // Both are three numbers beside the level. Of the squares the last bits are no noise.
    let residual = max(curve.squares - max(both, step), 0) / Double(max(1, curve.count - 4))
    let noise = max(residual, 1e-12 * curve.squares)
    return both - slow > deviations * deviations * noise ? 0 : (slow - step) / noise
  }
}

/// Values around their mean, with the sums that fits to them are made of.
private struct Curve {
  /// A shape, its mean taken away: its squares, and its products with the values and with the step.
  struct Shape {
    var variance: Double
    var y: Double
    var step: Double
  }

  let count: Int
  /// The sum of the values' squares.
  let squares: Double
  private(set) var step = Shape(variance: 0, y: 0, step: 0)
  private let place: Int
  /// The sums of the values before each index, and of those times their index.
  private var sums = [0.0]
  private var moments = [0.0]

  init(_ values: ArraySlice<Double>, step place: Int) {
    (count, self.place) = (values.count, place)
    let mean = values.reduce(0, +) / Double(values.count)
    var (sum, moment, squares) = (0.0, 0.0, 0.0)
    for (index, value) in values.enumerated() {
      let distance = value - mean
      sum += distance
      moment += Double(index) * distance
      squares += distance * distance
      sums.append(sum)
      moments.append(moment)
    }
    self.squares = squares
    let later = Double(count - place)
    let variance = later - later * later / Double(count)
    step = Shape(variance: variance, y: sum - sums[place], step: variance)
  }

  /// 0 up to `start`, 1 from `end` on, and a line in between.
  func rise(from start: Int, to end: Int) -> Shape {
    let width = Double(end - start)
    let line = ramp(start + 1..<end, from: start)
    let sum = line.sum / width + Double(count - end)
    let square = line.square / (width * width) + Double(count - end)
    let y = line.y / width + sums[count] - sums[end]
    let later = ramp(max(start + 1, place)..<max(start + 1, place, end), from: start)
    let step = later.sum / width + Double(count - max(end, place))
    let mean = sum / Double(count)
    return Shape(variance: square - sum * mean, y: y, step: step - mean * Double(count - place))
  }

  /// The sums over a range of the distance from `start`, of its square and of its product with the values.
  private func ramp(_ range: Range<Int>, from start: Int) -> (sum: Double, square: Double, y: Double) {
    func squares(_ last: Double) -> Double { last * (last + 1) * (2 * last + 1) / 6 }
    let (low, high) = (Double(range.lowerBound - start), Double(range.upperBound - 1 - start))
    let moment = moments[range.upperBound] - moments[range.lowerBound]
    let sum = sums[range.upperBound] - sums[range.lowerBound]
    return (
      sum: (high - low + 1) * (low + high) / 2,
      square: squares(high) - squares(low - 1),
      y: moment - Double(start) * sum
    )
  }
}
