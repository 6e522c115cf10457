import GateCore

/// How the figures of some repetitions came about, and how far they can be trusted.
struct MeasurementWords {
  /// The method's name as the fingerprint has it; a file of another version may name one that is not known here.
  let method: String
  let counters: CounterCheck?
  let repetitions: [RepetitionResult]
  /// What mostly lay between two readings; nil where the readings are not at hand.
  var interval: Duration?

  /// What a line of it says, as in `peaks exact to 248 KiB` and `tree read every 10.0 ms, widest gap 12.3 ms`.
  var parts: [String] {
    [peaks, difference, readings].compactMap(\.self)
  }

  private var peaks: String? {
    guard let method = MeasurementMethod(rawValue: method) else { return nil }
    let inexact = repetitions.count { repetition in
      repetition.largestProcesses.contains { $0.isMain && !$0.isExact }
    }
    guard method.isTraced, inexact == 0 || inexact < repetitions.count else {
      return "peaks are VmHWM as last read: a rise just before a process ends can be missed"
    }
    let bound = counters.map { " to \(Format.amount($0.bound))" } ?? ""
    let exception = "but as last read in \(inexact) of \(Format.count(repetitions.count, "repetition"))"
    return "peaks exact\(bound)" + (inexact > 0 ? ", \(exception)" : "")
  }

  /// What a self-check of the counters has found; nothing where they were right.
  private var difference: String? {
    guard let counters, counters.difference != .zero else { return nil }
    return "VmRSS is \(Format.difference(Double(counters.difference.count))) off here"
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
  /// What the figures of a tree count.
  var words: String {
    switch self {
    case .cgroup: "each page once, no file pages"
    case .proportional: "shared pages in parts"
    case .upperBound: "upper bound, shared pages count n times"
    }
  }

  /// The same for where there is little room.
  var inShort: String {
    self == .upperBound ? "upper bound" : words
  }
}

extension RepetitionResult.Spike {
  /// Where it came, as in `in phase load, between 0.800 s and 0.810 s, while it kept a CPU busy`.
  var circumstances: String {
    let place = phase.map { ["in phase \(TerminalText.safe($0))"] } ?? []
    let time =
      after < before
      ? "between \(Format.instant(after)) and \(Format.instant(before))" : "at \(Format.instant(before))"
    return (place + [time] + (isBusy ? ["while it kept a CPU busy"] : [])).joined(separator: ", ")
  }
}

extension ScenarioResult {
  var highestSpike: RepetitionResult.Spike? {
    repetitions.compactMap(\.spike).max { $0.height < $1.height }
  }

  /// Whether a phase's peaks are exact, in one or a few words.
  func exactness(ofPhase name: String) -> String {
    let phases = repetitions.flatMap(\.phases).filter { $0.name == name }
    let exact = phases.count(where: \.peakIsExact)
    return exact == 0 ? "sampled" : exact == phases.count ? "exact" : "exact in \(exact) of \(phases.count)"
  }
}

extension EndEvidence.Status {
  /// How a process ended, for a column of a table.
  var words: String {
    switch self {
    case .exited(let code): "exited\(Format.space)\(code)"
    case .signaled(let signal, let coreDumped): "SIG\(signal.name)" + (coreDumped ? ", core dumped" : "")
    }
  }
}
