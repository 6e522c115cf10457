/// The moving-block bootstrap of residuals (Künsch 1989).
enum BlockBootstrap {
  /// The length of the blocks, which must preserve the correlation of neighbours.
  ///
  /// At least the cube root of the count (Künsch 1989: the order for a variance), at least twice the first lag at which
  /// the autocorrelation is below 0.1, and at most a third of the count.
  static func blockLength(of residuals: [Double]) -> Int {
    let count = residuals.count
    let root = (1...max(1, count)).first { $0 * $0 * $0 >= count } ?? 1
    return max(1, min(count / 3, max(root, 2 * firstUncorrelatedLag(of: residuals))))
  }

  private static func firstUncorrelatedLag(of residuals: [Double]) -> Int {
    let mean = residuals.reduce(0, +) / Double(max(1, residuals.count))
    let centred = residuals.map { $0 - mean }
    let variance = centred.reduce(0) { $0 + $1 * $1 }
    let lags = 1..<max(2, residuals.count / 2)
    return lags.first { lag in
      zip(centred, centred.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } < 0.1 * variance || variance == 0
    } ?? residuals.count / 2
  }

  /// As many residuals as given, drawn in blocks of `length`.
  static func resample(_ residuals: [Double], length: Int, using numbers: inout SeededNumbers) -> [Double] {
    var drawn: [Double] = []
    drawn.reserveCapacity(residuals.count + length)
    while drawn.count < residuals.count {
      let start = numbers.next(below: residuals.count - length + 1)
      drawn += residuals[start..<start + length]
    }
    drawn.removeLast(drawn.count - residuals.count)
    return drawn
  }
}
