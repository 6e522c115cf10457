/// Divides a series into parts of one level each, so that the squared distances from their means and a penalty for each
/// part are least (optimal partitioning, Jackson and others 2005; pruned as in PELT, Killick and others 2012).
///
/// The penalty is low: the parts are candidates, whose ends are tested afterwards (``ChangePointCandidate``).
struct Segmentation {
  /// How many values are divided at once, overlapping by half: the time does not grow with the square of the series.
  private static let window = 2 * ChangePoints.reach

  /// The penalty for a part, in variances: half of what ``ChangePoints`` needs for a step in 60 values.
  private static let penalty = 11.0

  /// The sums of the values and of their squares before each index.
  private var (sums, squares) = ([0.0], [0.0])
  private let penalty: Double

  /// The indices at which parts begin, apart from the first, in order.
  static func places(in values: [Double]) -> [Int] {
    let noise = Outliers.noise(of: values)
    let starts = stride(from: 0, to: max(1, values.count - window / 2), by: window / 2)
    let found = starts.map { start in
      Segmentation(values[start..<min(start + window, values.count)], penalty: penalty * noise * noise).places
        .map { start + $0 }
    }
    return Set(found.joined()).sorted()
  }

  private init(_ values: ArraySlice<Double>, penalty: Double) {
    self.penalty = penalty
    let center = values.reduce(0, +) / Double(max(1, values.count))
    for (index, value) in values.enumerated() {
      let distance = value - center
      sums.append(sums[index] + distance)
      squares.append(squares[index] + distance * distance)
    }
  }

  /// The squared distances of a part from its mean.
  private func cost(_ start: Int, _ end: Int) -> Double {
    let sum = sums[end] - sums[start]
    return squares[end] - squares[start] - sum * sum / Double(end - start)
  }

  private var places: [Int] {
    let shortest = ChangePoints.shortest
    guard sums.count > 2 * shortest else { return [] }
    // The least cost of the values before each index, and the start of the last part there.
    var least = [0.0] + Array(repeating: Double.infinity, count: sums.count - 1)
    var last = Array(repeating: 0, count: sums.count)
    // The possible starts of the part that ends at an index, and the costs up to there.
    var starts: [(index: Int, cost: Double)] = []
    for end in shortest..<sums.count {
      starts.append((end - shortest, 0))
      for place in starts.indices {
        let start = starts[place].index
        starts[place].cost = least[start] + cost(start, end)
        if starts[place].cost + penalty < least[end] { (least[end], last[end]) = (starts[place].cost + penalty, start) }
      }
      starts.removeAll { [bound = least[end]] in $0.cost > bound }
    }
    return Array(sequence(first: last[sums.count - 1]) { last[$0] }.prefix { $0 > 0 }.reversed())
  }
}
