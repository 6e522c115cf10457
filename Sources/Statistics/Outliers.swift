/// Single bad runs: a few values far from those before and after them, which are alike.
enum Outliers {
  /// The largest number of consecutive outliers: as many values at the end of a series are a level
  /// (``ChangePoints/shortest``), since nobody knows yet whether they will last.
  static let longest = 3

  /// By how many standard deviations outliers differ from their neighbours: 1 of 3.5 million normal values does.
  static let deviations = 5.0

  /// The indices of the outliers, ascending.
  ///
  /// `least` is the smallest distance from a level that counts.
  static func places(in values: [Double], least: (_ level: Double) -> Double) -> [Int] {
    let noise = deviations * noise(of: values)
    var (sound, places, index) = ([Double](), [Int](), 0)
    while index < values.count {
      let length = (1...longest).first { isGroup($0, at: index, in: values, after: sound, noise, least) } ?? 0
      places += index..<index + length
      if length == 0 { sound.append(values[index]) }
      index += max(1, length)
    }
    return places
  }

  /// Whether the values from `index` on are outliers; `sound` are the values before it that are not.
  private static func isGroup(
    _ length: Int, at index: Int, in values: [Double], after sound: [Double], _ noise: Double,
    _ least: (Double) -> Double
  ) -> Bool {
    guard let after = Spread.median(Array(values.dropFirst(index + length).prefix(longest))) else { return false }
    let before = Spread.median(sound.suffix(longest)) ?? after
    let (low, high) = (min(before, after), max(before, after))
    let group = values[index..<index + length]
    let gap = max((group.min() ?? low) - high, low - (group.max() ?? high))
    return gap > max(noise, least(before)) && gap > 3 * (high - low)
  }

  /// The standard deviation from one run to the next, from the smaller nine tenths of all differences.
  ///
  /// For a normal distribution they have 0.623 of the variance; a difference has twice the variance of a value.
  static func noise(of values: [Double]) -> Double {
    let squares = zip(values, values.dropFirst()).map { ($1 - $0) * ($1 - $0) }.sorted()
    let kept = squares.prefix((squares.count * 9 + 9) / 10)
    return (kept.reduce(0, +) / Double(max(1, kept.count)) / 0.623 / 2).squareRoot()
  }
}
