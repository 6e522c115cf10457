/// The exact test of Fisher (1935) for a proportion, one-sided.
package enum FisherTest {
  /// The probability of at least `current` of `currentCount` if the proportion is the same as that of `base` of
  /// `baseCount`; 1 if either count is zero.
  package static func pValue(ofRiseFrom base: Int, of baseCount: Int, to current: Int, of currentCount: Int) -> Double {
    guard baseCount > 0, currentCount > 0 else { return 1 }
    let (marked, all) = (base + current, baseCount + currentCount)
    // The hypergeometric weights by their ratios, from the smallest possible `current`.
    let (fewest, most) = (max(0, marked - baseCount), min(marked, currentCount))
    var (weight, total, wanted) = (1.0, 0.0, 0.0)
    for count in fewest...most {
      total += weight
      if count >= current { wanted += weight }
      let next = Double(marked - count) * Double(currentCount - count)
      weight *= next / (Double(count + 1) * Double(all - marked - currentCount + count + 1))
    }
    return wanted / total
  }
}
