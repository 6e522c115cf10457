/// Finds which of the tests before a test makes it need more: the last one without which it does not.
///
/// The test runs after the last 1, 2, 4, … of them, until it needs more; then the number is halved in between. So it takes
/// about twice the logarithm of their number, mostly short runs.
package struct CauseSearch: Sendable {
  /// The tests before it, in order.
  let predecessors: [String]
  /// The most of the last ones after which it did not need more, and the fewest after which it did.
  private var hidden = 0
  private var shown: Int?

  package init(before predecessors: [String]) {
    self.predecessors = predecessors
  }

  /// The tests to run before it next; nil if the search has ended.
  package var next: [String]? {
    width.map { Array(predecessors.suffix($0)) }
  }

  /// The cause; nil while it is unknown, and if the test never needed more.
  package var cause: String? {
    guard let shown, shown - hidden == 1 else { return nil }
    return predecessors[predecessors.count - shown]
  }

  private var width: Int? {
    guard let shown else { return hidden < predecessors.count ? min(max(1, 2 * hidden), predecessors.count) : nil }
    return shown - hidden > 1 ? (shown + hidden) / 2 : nil
  }

  /// Adds the answer to `next`.
  package mutating func add(needsMore: Bool) {
    guard let width else { return }
    if needsMore { shown = width } else { hidden = width }
  }
}
