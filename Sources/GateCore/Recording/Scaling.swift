import Statistics

/// The peaks of one repetition with several numbers of items.
package struct Scaling: Sendable, Equatable {
  /// How memory grows where it is not in proportion to the items.
  package enum Shape: String, Sendable, Codable, CaseIterable {
    /// Each further item takes more, as with a square.
    case faster
    /// Each further item takes less.
    case slower
    /// In steps, as with a table that doubles.
    case steps
  }

  package var axis: String
  /// In ascending order of items.
  package var items: [Double]
  /// In bytes, in the same order.
  package var peaks: [Double]

  package init(axis: String, items: [Double], peaks: [Double]) {
    (self.axis, self.items, self.peaks) = (axis, items, peaks)
  }

  /// In bytes per item.
  package var slope: Double? { Slope.theilSen(x: items, y: peaks) }

  /// In bytes.
  package var base: Double? {
    slope.flatMap { slope in Spread.median(zip(items, peaks).map { $1 - slope * $0 }) }
  }

  /// A peak may be this far from the line, as a share of the rise from the first to the last one, and in bytes.
  private static let (shareOffLine, bytesOffLine) = (0.05, Double(Bytes.kibibytes(256).count))

  /// nil if all peaks are near the line.
  package var shape: Shape? {
    guard let slope, let base, let first = peaks.first, let last = peaks.last else { return nil }
    let farthest = zip(items, peaks).map { abs($1 - base - slope * $0) }.max() ?? 0
    guard farthest > max(Self.bytesOffLine, Self.shareOffLine * abs(last - first)) else { return nil }
    let slopes: [Double] = peaks.indices.dropFirst().map { at in
      (peaks[at] - peaks[at - 1]) / (items[at] - items[at - 1])
    }
    if zip(slopes, slopes.dropFirst()).allSatisfy({ $1 > $0 }) { return .faster }
    return zip(slopes, slopes.dropFirst()).allSatisfy { $1 < $0 } ? .slower : .steps
  }
}
