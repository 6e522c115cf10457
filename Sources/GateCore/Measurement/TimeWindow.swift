extension Array {
  /// The elements whose time lies in the window, where all are in the order of time.
  ///
  /// Found by halving: a target may start phases by the ten thousand, each of which has a window of its own.
  func slice(of window: ClosedRange<Duration>, by time: (Element) -> Duration) -> ArraySlice<Element> {
    let start = firstIndex(fromWhere: { time($0) >= window.lowerBound })
    return self[start..<Swift.max(start, firstIndex(fromWhere: { time($0) > window.upperBound }))]
  }

  /// The first index from which on the condition holds, where it holds for all after one for which it does.
  private func firstIndex(fromWhere isBeyond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
