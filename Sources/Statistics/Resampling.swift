/// Residuals drawn again, for curves that might have been measured instead of the one that was.
enum Resampling {
  /// How many neighbours are drawn together, so that what hangs together stays together.
  ///
  /// At least the cube root of the count (Künsch 1989: the order that suits a variance), at least twice the first lag
  /// at which the residuals correlate by less than 0.1, and at most a third of them.
  static func blockLength(of residuals: [Double]) -> Int {
    let count = residuals.count
    let root = (1...max(1, count)).first { $0 * $0 * $0 >= count } ?? 1
    return max(1, min(count / 3, max(root, 2 * firstFreeLag(of: residuals))))
  }

  private static func firstFreeLag(of residuals: [Double]) -> Int {
    let mean = residuals.reduce(0, +) / Double(max(1, residuals.count))
    let centred = residuals.map { $0 - mean }
    let variance = centred.reduce(0) { $0 + $1 * $1 }
    let lags = 1..<max(2, residuals.count / 2)
    return lags.first { lag in
      zip(centred, centred.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } < 0.1 * variance || variance == 0
    } ?? residuals.count / 2
  }

  /// As many residuals as there are, in blocks of `length` from anywhere among them (the moving-block bootstrap).
  static func movingBlocks(of residuals: [Double], length: Int, from numbers: inout SeededNumbers) -> [Double] {
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
