/// Fits a ramp, a line from one level to another, to a series by least squares, to tell drift from a step.
///
/// A step is a ramp of no length. If a step lies within drift, both together fit better than the ramp alone.
enum RampFit {
  /// The fewest runs of a ramp.
  ///
  /// With 10, 12, 14 and 20 of them 14, 12, 10 and 5 % of steps by 2.5 deviations in the middle of 60 values were taken
  /// for ramps; and 5, 5, 6 and 10 % of series that rose by 0.3 % a run after 20 level ones, at a deviation of 2 %, had
  /// steps (our simulation of 1,000 each, 2026-11).
  static let shortest = 12

  /// The standard deviations that a step must have beside a ramp: the best of many ramps absorbs a part of the step, and
  /// the place of the step was chosen.
  static let deviations = 4.0

  /// By how many variances the best ramp fits the values better than a step at `place`; at most zero if a step remains
  /// beside the ramp.
  static func advantage(overStepAt place: Int, in values: ArraySlice<Double>) -> Double {
    let series = CenteredSeries(values, step: place)
    // The sums of squares that the step, the best ramp and the best of both explain.
    let step = series.step.y * series.step.y / series.step.variance
    var (ramp, both) = (0.0, 0.0)
    for start in 0..<max(0, series.count - shortest) {
      for end in start + shortest..<series.count {
        let shape = series.ramp(from: start, to: end)
        let explained = shape.y * shape.y / shape.variance
        ramp = max(ramp, explained)
        let left = series.step.variance - shape.step * shape.step / shape.variance
        let rest = series.step.y - shape.step / shape.variance * shape.y
        // The rest of the step must have the direction of the whole step.
        guard left > 1e-9 * series.step.variance, rest * series.step.y > 0 else { continue }
        both = max(both, explained + rest * rest / left)
      }
    }
    // Four parameters are fitted. The lower bound keeps rounding errors from counting as noise.
    let residual = max(series.squares - max(both, step), 0) / Double(max(1, series.count - 4))
    let noise = max(residual, 1e-12 * series.squares)
    return both - ramp > deviations * deviations * noise ? 0 : (ramp - step) / noise
  }
}

/// Values minus their mean, with the sums that the fits need.
private struct CenteredSeries {
  /// A shape minus its mean: its sum of squares, and its products with the values and with the step.
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
  /// The sums of the values before each index, and of the values times their index.
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
  func ramp(from start: Int, to end: Int) -> Shape {
    let width = Double(end - start)
    let line = rangeSums(start + 1..<end, from: start)
    let sum = line.sum / width + Double(count - end)
    let square = line.square / (width * width) + Double(count - end)
    let y = line.y / width + sums[count] - sums[end]
    let later = rangeSums(max(start + 1, place)..<max(start + 1, place, end), from: start)
    let step = later.sum / width + Double(count - max(end, place))
    let mean = sum / Double(count)
    return Shape(variance: square - sum * mean, y: y, step: step - mean * Double(count - place))
  }

  /// The sums over a range of the distance from `start`, of its square and of its product with the values.
  private func rangeSums(_ range: Range<Int>, from start: Int) -> (sum: Double, square: Double, y: Double) {
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
