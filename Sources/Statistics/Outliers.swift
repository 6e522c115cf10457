/// Single bad runs: a few values far from those before and after them, which are alike.
enum Outliers {
  /// The largest number of consecutive outliers: as many values at the end of a series are a level
  /// (``ChangePoints/shortest``), since nobody knows yet whether they will last.
  private static let longest = 3

  /// By how many standard deviations outliers differ from their neighbours: 1 of 1.7 million normal values does.
  private static let deviations = 5.0

  /// The indices of the outliers, ascending.
  ///
  /// `least` is the smallest distance from a level that counts.
  static func places(in values: [Double], least: (_ level: Double) -> Double) -> [Int] {
    let noise = deviations * noise(of: values)
    var (sound, places, index) = ([Double](), [Int](), 0)
    while index < values.count {
      let distance = max(noise, least(sound.last ?? values[index]))
      // Nearly all values are near the one before. Nothing is known about several at the beginning.
      let isNear = sound.last.map { abs(values[index] - $0) <= distance } ?? false
      let lengths = isNear ? 1..<1 : 1..<(sound.isEmpty ? 1 : longest) + 1
      let rest = values[index...]
      let length = lengths.first { isGroup(rest.prefix($0), sound.suffix(longest), rest.dropFirst($0), distance) } ?? 0
      places += index..<index + length
      if length == 0 { sound.append(values[index]) }
      index += max(1, length)
    }
    return places
  }

  /// Whether values are further than a distance from the level before and from that of the values after them.
  private static func isGroup(
    _ group: ArraySlice<Double>, _ sound: ArraySlice<Double>, _ rest: ArraySlice<Double>, _ distance: Double
  ) -> Bool {
    guard let after = Spread.median(Array(rest.prefix(longest))) else { return false }
    let before = Spread.median(Array(sound)) ?? after
    let (low, high) = (min(before, after), max(before, after))
    let gap = max((group.min() ?? low) - high, low - (group.max() ?? high))
    return gap > max(distance, high - low)
  }

  /// The standard deviation from one run to the next, from the smaller three quarters of all differences, but at least a
  /// tenth of that from all, so that values of which most are equal have noise.
  ///
  /// For a normal distribution these have 0.3686 of the variance; a difference has twice the variance of a value.
  static func noise(of values: [Double]) -> Double {
    let squares = zip(values, values.dropFirst()).map { ($1 - $0) * ($1 - $0) }.sorted()
    func mean(_ kept: ArraySlice<Double>) -> Double { kept.reduce(0, +) / Double(max(1, kept.count)) }
    return (max(mean(squares.prefix((3 * squares.count + 3) / 4)) / 0.3686, mean(squares[...]) / 100) / 2).squareRoot()
  }
}
