import GateCore

extension Growth {
  /// Where it leads, in a few words.
  var kindText: String {
    switch kind {
    case .leaking: "a leak"
    case .settling: "settling, ever less"
    case .level where low > 0: "too little for a leak"
    case .level where high < 0: "falling"
    case .level: "level"
    }
  }

  /// The figures, as in `4.2 KiB per iteration (95 %: 4.1 KiB to 4.4 KiB)`.
  func figures(perIteration: Bool) -> String {
    let unit = MetricName.growth.unit(perIteration: perIteration)
    func amount(_ value: Double) -> String { Format.plainAmount(value, unit: unit) }
    let interval = "95\(Format.space)%: \(amount(low)) to \(amount(high))"
    return "\(amount(slope)) per \(perIteration ? "iteration" : "second") (\(interval))"
  }
}

extension ScenarioResult {
  /// The growth of the repetition in the middle, and its kind; nil where no repetition has more than a slope.
  ///
  /// Where the repetitions went different ways it tells how many went each.
  var growthText: String? {
    let growths = repetitions.compactMap(\.growth).sorted { $0.slope < $1.slope }
    guard !growths.isEmpty else { return nil }
    let figures = growths[growths.count / 2].figures(perIteration: growthIsPerIteration)
    return "\(figures): \(Self.shared(growths.map(\.kindText), among: repetitions.count))"
  }

  /// Why there was no steady state; nil where there was one each time, or nobody knows.
  var unsteadinessText: String? {
    let reasons = repetitions.compactMap(\.steadiness?.explanation)
    return reasons.isEmpty ? nil : Self.shared(reasons, among: repetitions.count)
  }

  /// What all say alike is said once, else with how many of all say it.
  private static func shared(_ words: [String], among count: Int) -> String {
    var seen: [String] = []
    for text in words where !seen.contains(text) { seen.append(text) }
    guard seen.count > 1 || words.count < count else { return seen[0] }
    return seen.map { text in "\(text) (in \(words.count { $0 == text }) of \(count))" }.joined(separator: ", ")
  }
}
