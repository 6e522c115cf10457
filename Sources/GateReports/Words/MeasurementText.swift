import GateCore

/// How some repetitions were measured, and how exact their values are.
struct MeasurementText {
  /// As the fingerprint has it; files of other versions may have methods that are unknown here.
  let method: String
  let counters: CounterCheck?
  let repetitions: [RepetitionResult]
  /// The usual time between two readings; nil where there are no readings.
  var interval: Duration?

  /// As in `peaks exact to 248 KiB` and `tree read every 10.0 ms, widest gap 12.3 ms`.
  var parts: [String] {
    [peaks, difference, readings].compactMap(\.self)
  }

  private var peaks: String? {
    guard let method = MeasurementMethod(rawValue: method) else { return nil }
    let inexact = repetitions.count { repetition in
      repetition.largestProcesses.contains { $0.isMain && !$0.isExact }
    }
    guard method.isTraced, inexact == 0 || inexact < repetitions.count else {
      return "peaks are the last VmHWM read: a rise just before the end of a process can be missed"
    }
    let bound = counters.map { " to \(Format.amount($0.bound))" } ?? ""
    let exception = "except in \(inexact) of \(Format.count(repetitions.count, "repetition"))"
    return "peaks exact\(bound)" + (inexact > 0 ? " \(exception)" : "")
  }

  /// The error that a check of the kernel's counters found; nil where there was none.
  private var difference: String? {
    guard let counters, counters.difference != .zero else { return nil }
    return "VmRSS is off by \(Format.difference(Double(counters.difference.count)))"
  }

  private var readings: String? {
    let gap = repetitions.map(\.widestGap).max() ?? .zero
    let every = interval.map { "tree read every \(Format.exactTime($0))" }
    let widest = gap > .zero ? "widest gap\(every == nil ? " between readings" : "") \(Format.exactTime(gap))" : nil
    let words = [every, widest].compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }
}

extension Recording {
  /// What lay between two readings for most of the time; nil for fewer than two.
  ///
  /// Not the median of all: a program is read far more often while it is being loaded.
  var typicalInterval: Duration? {
    let gaps = zip(samples.dropFirst(), samples).map { $0.time - $1.time }.sorted()
    let whole = gaps.reduce(.zero, +)
    var covered = Duration.zero
    return gaps.first { gap in
      covered += gap
      return covered * 2 >= whole
    }
  }
}

extension TreeMethod {
  /// What the values of a process tree count.
  var displayText: String {
    switch self {
    case .cgroup: "each page once, without file pages"
    case .proportional: "shared pages divided among processes (Pss)"
    case .upperBound: "upper bound (shared pages count once per process)"
    }
  }

  /// The same for a narrow column.
  var shortText: String {
    switch self {
    case .cgroup: "without file pages"
    case .proportional: "Pss"
    case .upperBound: "upper bound"
    }
  }
}

/// As in `between 0.800 s and 0.810 s`, or `at 0.800 s`.
func timeText(after: Duration, before: Duration) -> String {
  after < before
    ? "between \(Format.instant(after)) and \(Format.instant(before))" : "at \(Format.instant(before))"
}

extension RepetitionResult.Spike {
  /// When it came, as in `in phase load, between 0.800 s and 0.810 s, while a CPU was busy`.
  var circumstances: String {
    let parts = [
      phase.map { "in phase \($0)" }, timeText(after: after, before: before), isBusy ? "while a CPU was busy" : nil,
    ]
    return TerminalText.safe(parts.compactMap(\.self).joined(separator: ", "))
  }
}

extension ScenarioResult {
  var highestSpike: RepetitionResult.Spike? {
    repetitions.compactMap(\.spike).max { $0.height < $1.height }
  }

  /// Whether a phase's peaks are exact, as in `exact in 4 of 5`.
  func exactness(ofPhase name: String) -> String {
    let phases = repetitions.flatMap(\.phases).filter { $0.name == name }
    let exact = phases.count(where: \.peakIsExact)
    return exact == 0 ? "sampled" : exact == phases.count ? "exact" : "exact in \(exact) of \(phases.count)"
  }
}

extension EndEvidence.Status {
  /// How a process ended, for a column of a table.
  var shortText: String {
    switch self {
    case .exited(let code): "exited\(Format.space)\(code)"
    case .signaled(let signal, let coreDumped): "SIG\(signal.name)" + (coreDumped ? ", core dumped" : "")
    }
  }
}

extension ScenarioResult {
  /// What the target reported on itself, in the order of time, with the number of repetitions unless it is all of them.
  var eventTexts: [String] {
    let texts = repetitions.flatMap { $0.events.map(\.displayText).counted.map(\.element) }
    return texts.counted.map { text, count in
      let share = count < repetitions.count ? ", \(count) of \(repetitions.count) repetitions" : ""
      return TerminalText.safe(text) + share
    }
  }

  /// The values of a metric in all repetitions that have it.
  func values(of metric: MetricName) -> ValueSummary? {
    ValueSummary(repetitions.compactMap { $0.allMetrics[metric] })
  }

  /// How the repetitions ended, each different end once; a repetition's proof is shown with its end.
  var endTexts: [(text: String, evidence: String?)] {
    repetitions.map(\.end).counted.map { end, count in
      let share =
        repetitions.count > 1 ? ", \(count) of \(Format.count(repetitions.count, "repetition"))" : ""
      return (TerminalText.safe(end.displayText) + share, end.proofText.map { TerminalText.safe($0) })
    }
  }
}
