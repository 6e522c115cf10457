import GateCore

/// How repetitions were measured, and how exact their values are.
struct MeasurementText {
  /// As in the fingerprint; files of other versions may have unknown methods.
  let method: String
  let counters: CounterCheck?
  let repetitions: [RepetitionResult]
  /// The usual time between two samples; nil without samples.
  var interval: Duration?

  /// As in `peaks exact to 248 KiB` and `tree read every 10.0 ms, widest gap 12.3 ms`.
  var parts: [String] {
    [peaks, difference, readings].compactMap(\.self)
  }

  private var peaks: String? {
    // Of the tests of a suite, only those that are not exact are told.
    guard let method = MeasurementMethod(rawValue: method), !repetitions.isEmpty else { return nil }
    let inexact = repetitions.count { repetition in
      repetition.largestProcesses.contains { $0.isMain && !$0.isExact }
    }
    let isExact = repetitions.contains { $0.largestProcesses.contains { $0.isMain && $0.isExact } }
    guard method.isTraced || isExact, inexact == 0 || inexact < repetitions.count else {
      return "peaks are the last VmHWM read: a rise just before the end of a process can be missed"
    }
    let bound = counters.map { " to \(Format.amount($0.bound))" } ?? ""
    let exception = "except in \(inexact) of \(Format.count(repetitions.count, "repetition"))"
    return "peaks exact\(bound)" + (inexact > 0 ? " \(exception)" : "")
  }

  /// The error found in the kernel's counters; nil if there was none.
  private var difference: String? {
    guard let counters, counters.difference != .zero else { return nil }
    let side = counters.difference < .zero ? "below" : "above"
    return "VmRSS is \(Format.amount(Bytes(abs(counters.difference.count)))) \(side) the sum of smaps"
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
  /// The usual time between two samples; nil for fewer than two.
  ///
  /// Not the median of all: a program is sampled far more often while it is being loaded.
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
