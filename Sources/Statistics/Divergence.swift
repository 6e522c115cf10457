/// The divergence between adjacent parts of a series (Matteson and James 2014, equations 5 and 7, with the exponent 1).
enum Divergence {
  /// The best split of a range and the end of its second part, each part of at least ``ChangePoints/shortest`` values;
  /// nil if the range is too short, or all its values are equal.
  ///
  /// It maximizes Q = nm/(n + m) · (2 × the mean distance between both parts − that within the first − that within the
  /// second). With N = n + m, the sum S of all distances, and F and L the mean distances within each part times n/2 and
  /// m/2, it is 2 (S − (N − 1) (F + L)) / N. The second part may end anywhere (equation 7): if it always reached the end
  /// of the range, a higher level of 11 runs between 50 and 50 others would be missed, however clear.
  static func split(of values: [Double], _ range: Range<Int>) -> (place: Int, end: Int)? {
    let (start, shortest) = (range.lowerBound, ChangePoints.shortest)
    guard range.count >= 2 * shortest else { return nil }
    // The sums of the distances from the k-th value up to the end, and the F of the first k values.
    var sums = [Double](repeating: 0, count: range.count)
    var first = [Double](repeating: 0, count: range.count + 1)
    let shares = (0...range.count).map { 1 / Double(max(1, $0 - 1)) }
    var best = (place: 0, end: 0, divergence: 0.0)
    for end in 1...range.count {
      var added = 0.0
      for one in stride(from: end - 2, through: 0, by: -1) {
        added += abs(values[start + one] - values[start + end - 1])
        sums[one] += added
      }
      first[end] = sums[0] * shares[end]
      guard end >= 2 * shortest else { continue }
      var least = (place: 0, within: Double.infinity)
      for place in shortest...end - shortest {
        let within = first[place] + sums[place] * shares[end - place]
        if within < least.within { least = (place, within) }
      }
      let divergence = 2 * (sums[0] - Double(end - 1) * least.within) / Double(end)
      if divergence > best.divergence { best = (least.place, end, divergence) }
    }
    return best.divergence > 0 ? (start + best.place, start + best.end) : nil
  }
}
