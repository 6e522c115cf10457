/// Suggestions for misspelled words.
package enum NearMiss {
  /// The candidate that is at most two edits away, if any.
  ///
  /// An edit inserts, removes or replaces a letter, or swaps two neighbours (the optimal string alignment distance).
  /// Case is ignored. A word of up to five letters allows one edit, a word of two letters none, since too many other
  /// words are near.
  package static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().unicodeScalars.prefix(100))
    var best: (candidate: String, edits: Int)?
    for candidate in candidates where candidate != word {
      let other = Array(candidate.lowercased().unicodeScalars)
      let allowed = editsAllowed(min(letters.count, other.count))
      guard abs(letters.count - other.count) <= allowed else { continue }
      let edits = distance(letters, other)
      if edits <= allowed, edits < best?.edits ?? .max { best = (candidate, edits) }
    }
    return best?.candidate
  }

  private static func editsAllowed(_ length: Int) -> Int {
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
        var edits = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          edits = min(edits, beforeLast[column - 1] + 1)
        }
        current.append(edits)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
