import GateCore

/// Figures in words; the spaces within a figure are no-break spaces until the line is written.
enum Format {
  static let space: Character = "\u{a0}"

  /// An amount in a metric's unit, as in `23.1 MiB` or `1.2 KiB/iteration`.
  static func amount(_ value: Double, unit: String = "bytes") -> String {
    plainAmount(value, unit: unit) + MetricUnit.suffix(of: unit)
  }

  /// A difference of two amounts with its sign, as in `+1.2 MiB`; no sign where it shows as zero.
  static func difference(_ value: Double, unit: String = "bytes") -> String {
    let text = amount(value, unit: unit)
    return value > 0 && text.contains { ("1"..."9").contains($0) } ? "+" + text : text
  }

  /// A share of the baseline with its sign, as in `+5.3 %`; empty where there is none.
  static func percent(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "" }
    let text = Decimals.text(value, places: value.magnitude < 1000 ? 1 : 0)
    return (value > 0 && text != "0.0" ? "+" + text : text) + "\(space)%"
  }

  /// A share without a sign, to two digits below ten, as in `0.93 %`, `4.1 %` or `12 %`.
  static func share(_ value: Double) -> String {
    Decimals.text(value, places: value < 1 ? 2 : value < 10 ? 1 : 0) + "\(space)%"
  }

  /// The amount without what it is counted per.
  static func plainAmount(_ value: Double, unit: String) -> String {
    guard value.isFinite, value.magnitude < 1e18 else { return "unknown" }
    guard MetricUnit.isMemory(unit) else { return glued(MetricUnit.ownText(of: value, unit: TerminalText.safe(unit))) }
    if unit != "bytes", value.magnitude < 1024, value != value.rounded() {
      return Decimals.text(value, places: 1) + "\(space)B"
    }
    return glued(Bytes(Int64(value.rounded())).description)
  }

  /// A span of time; below a millisecond in its fractions, since not every terminal shows a `µ`.
  static func time(_ duration: Duration) -> String {
    guard duration > .zero, duration < .milliseconds(1) else {
      return duration == .zero ? "0\(space)s" : glued(duration.displayText)
    }
    return Decimals.text(duration.inSeconds * 1000, places: 3) + "\(space)ms"
  }

  /// A short span to a tenth of a millisecond, as in `12.3 ms`.
  static func exactTime(_ duration: Duration) -> String {
    duration < .seconds(1) ? Decimals.text(duration.inSeconds * 1000, places: 1) + "\(space)ms" : time(duration)
  }

  /// An instant of a repetition to the millisecond, as in `1.234 s`.
  static func instant(_ duration: Duration) -> String {
    Decimals.text(duration.inSeconds, places: 3) + "\(space)s"
  }

  static func amount(_ bytes: Bytes) -> String {
    glued(bytes.description)
  }

  /// The number and the noun, as in `1 scenario` or `3 scenarios`.
  static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number)\(space)" + (number == 1 ? noun : plural ?? noun + "s")
  }

  static func glued(_ text: String) -> String {
    String(text.map { $0 == " " ? space : $0 })
  }
}

extension Tolerance {
  /// The tolerance as it was asked for, as in `3 %, at least 512 KiB`.
  var displayText: String {
    switch self {
    case .automatic: "auto, from the baseline's own noise"
    case .bounds(let relative?, let absolute?):
      "\(Self.text(relative)), at least \(Format.glued(absolute.description))"
    case .bounds(let relative?, nil): Self.text(relative)
    case .bounds(nil, let absolute?): Format.glued(absolute.description)
    case .bounds(nil, nil): "none"
    }
  }

  /// As many decimal places as the file's own figure has, at most two.
  private static func text(_ percent: Percent) -> String {
    let places = (0...2).first { Double(Decimals.text(percent.value, places: $0)) == percent.value } ?? 2
    return Decimals.text(percent.value, places: places) + "\(Format.space)%"
  }
}

extension GateRule {
  /// The rule in a few words, as in `3 %, at least 512 KiB; limit 200 MiB; warns only`.
  var displayText: String {
    var parts = tolerance.map { [$0.displayText] } ?? []
    if let limit { parts.append("limit \(Format.glued(limit.description))") }
    switch severity {
    case .fail: break
    case .warn: parts.append("warns only")
    case .off: parts.append("off")
    }
    return parts.isEmpty ? "shown, not judged" : parts.joined(separator: "; ")
  }
}

extension MetricResult {
  /// Whether it is worse than it may be, under a rule that only warns.
  var isWarning: Bool {
    verdict == .regression && rule.severity == .warn
  }

  /// Whether it is above its absolute limit, which no baseline can change.
  var isAboveLimit: Bool {
    guard let limit = rule.limit, let now = current?.median else { return false }
    return now > limit.value
  }

  /// Whether it rose by more than is tolerated.
  var isRise: Bool {
    guard let shift = change?.shift, let allowed else { return false }
    return shift > allowed
  }

  /// The metric's name as tables show it: the rate of growth carries what it is counted per.
  var label: String {
    let suffix = MetricUnit.shortSuffix(of: unit)
    return TerminalText.safe(rule.metric.text) + suffix
  }
}

/// The values that one metric had in the repetitions of a scenario.
struct RepeatedFigure: Equatable {
  let median: Double
  let lowest: Double
  let highest: Double
  let count: Int

  /// nil where there are no values.
  init?(_ values: [Double]) {
    let sorted = values.filter(\.isFinite).sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    let middle = sorted.count / 2
    self.median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    self.lowest = lowest
    self.highest = highest
    self.count = sorted.count
  }
}

extension ScenarioResult {
  /// What the target told of itself, in the order of time, with the number of repetitions unless it is all of them.
  var eventTexts: [String] {
    func distinct(_ texts: [String]) -> [String] { texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
    let reported = repetitions.flatMap { distinct($0.events.map(\.displayText)) }
    return distinct(reported).map { words in
      let count = reported.count { $0 == words }
      let share = count < repetitions.count ? ", \(count) of \(repetitions.count) repetitions" : ""
      return TerminalText.safe(words) + share
    }
  }

  /// The values of a metric in all repetitions that have it.
  func figure(of metric: MetricName) -> RepeatedFigure? {
    RepeatedFigure(repetitions.compactMap { $0.allMetrics[metric] })
  }
}
