/// What a person may have meant by a word that does not exist.
package enum NearMiss {
  /// The candidate that is at most two slips of the pen away; nil where none is.
  ///
  /// A slip is one letter too many, too few, wrong, or swapped with its neighbour (the optimal string alignment
  /// distance). Case does not count, and a word of up to five letters allows one slip only, of two letters none: too
  /// many words lie around those.
  package static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().unicodeScalars.prefix(100))
    var best: (candidate: String, slips: Int)?
    for candidate in candidates where candidate != word {
      let other = Array(candidate.lowercased().unicodeScalars)
      let allowed = slipsAllowed(min(letters.count, other.count))
      guard abs(letters.count - other.count) <= allowed else { continue }
      let slips = distance(letters, other)
      if slips <= allowed, slips < best?.slips ?? .max { best = (candidate, slips) }
    }
    return best?.candidate
  }

  private static func slipsAllowed(_ length: Int) -> Int {
    switch length {
    case ...2: 0
    case 3...5: 1
    default: 2
    }
  }

  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast = [Int]()
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var slips = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          slips = min(slips, beforeLast[column - 1] + 1)
        }
        current.append(slips)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
