extension Array {
  /// The elements with a time in the window; the collection must be ordered by time.
  ///
  /// By binary search, since a target may start tens of thousands of phases, each with its own window.
  func slice(of window: ClosedRange<Duration>, by time: (Element) -> Duration) -> ArraySlice<Element> {
    let start = firstIndex(fromWhere: { time($0) >= window.lowerBound })
    return self[start..<Swift.max(start, firstIndex(fromWhere: { time($0) > window.upperBound }))]
  }

  /// The first index that satisfies the condition; all later indices must satisfy it too.
  private func firstIndex(fromWhere isBeyond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
