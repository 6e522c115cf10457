import GateCore

extension Growth {
  /// The meaning of the growth, in a few words.
  var kindText: String {
    switch kind {
    case .continuous: "grows continuously"
    case .settling: Self.settlingText
    case .level where low > 0: "grows slowly"
    case .level where high < 0: "falling"
    case .level: "level"
    }
  }

  /// What cannot be told apart from a warm-up, in the words of all reports.
  static let settlingText = "still rising; may be warm-up"

  /// As in `4.2 KiB/iteration (95 % interval: 4.1 KiB to 4.4 KiB)`.
  func text(perIteration: Bool) -> String {
    let unit = MetricName.growth.unit(perIteration: perIteration)
    let ends = [low, high].map { Format.plainAmount($0, unit: unit) }
    return "\(Format.amount(slope, unit: unit)) (95\(Format.space)% interval: \(ends[0]) to \(ends[1]))"
  }
}

extension HiddenGrowth {
  /// What is hidden and why, and what would help.
  var displayText: String {
    let amount = Format.amount(upTo, unit: MetricName.growth.unit(perIteration: true))
    return "a leak of up to \(amount) cannot be seen here: \(reason)"
  }

  private var reason: String {
    switch cause {
    case .warmup: "growth still slows down; send warm-up requests before `repeat`, or more iterations"
    case .level: "memory grows in each iteration, here or in the baseline; more iterations show whether that ends"
    case .fewIterations:
      "\(Format.count(iterations, "iteration")) judged; \(enoughIterations * 2) in all show smaller leaks"
    case .garbage:
      "\(Format.count(iterations, "iteration")) judged, and the collector may reuse garbage; "
        + "\(enoughIterations * 2) in all show smaller leaks"
    case .notJudged:
      "growth is judged with \(Growth.fewestIterations) iterations or more, and there are \(iterations)"
    case .noise: "equal repetitions differ by as much; more iterations show smaller leaks"
    }
  }
}

extension ScenarioResult {
  /// The median growth and its meaning, with counts if repetitions differ; nil if only slopes are known.
  var growthText: String? {
    let growths = repetitions.compactMap(\.growth).sorted { $0.slope < $1.slope }
    guard !growths.isEmpty else { return nil }
    let middle = growths[growths.count / 2].text(perIteration: summary.growthIsPerIteration)
    return "\(middle): \(Self.counts(of: growths.map(\.kindText), among: repetitions.count))"
  }

  /// Why there was no steady state; nil if every repetition had one, or it is unknown.
  var unsteadinessText: String? {
    let reasons = repetitions.compactMap(\.steadiness?.displayText)
    return reasons.isEmpty ? nil : Self.counts(of: reasons, among: repetitions.count)
  }

  /// Each text once, with its number unless all repetitions have the same.
  private static func counts(of texts: [String], among count: Int) -> String {
    let distinct = texts.counted
    guard distinct.count > 1 || texts.count < count else { return texts[0] }
    return distinct.map { "\($0.element) (\($0.count) of \(count))" }.joined(separator: ", ")
  }
}

extension Sequence where Element: Hashable {
  /// Each element once, in order of first occurrence, with its number of occurrences.
  var counted: [(element: Element, count: Int)] {
    var places: [Element: Int] = [:]
    var counted: [(element: Element, count: Int)] = []
    for element in self {
      if let place = places[element] {
        counted[place].count += 1
      } else {
        places[element] = counted.count
        counted.append((element, 1))
      }
    }
    return counted
  }
}
