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
