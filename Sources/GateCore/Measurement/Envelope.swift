/// How high the main process's memory was, between its readings too.
///
/// Two rules make it, and a fall is never taken for anything:
/// - A high-water mark (`VmHWM`, proc_pid_status(5)) above the one read before was reached between the two readings,
///   whether or not one of them saw that much resident: the kernel raises the mark only to what is resident.
/// - A mark that was set back (``Mark/peakBefore``) counts as read just before that, and the next one from zero.
///
/// A mark that is lower than before is of another program (exec makes a new one), or lags: the kernel keeps it by an
/// inexact read of per-CPU counters (kernel commits f1a7941243c1 and 82241a83cd15; 16 to 368 KiB in 330 runs on 2 CPUs).
struct Envelope {
  /// What is known of the time from one reading of the mark to the next.
  struct Step {
    /// When the mark was read before; the exec for the first step.
    let after: Duration
    let time: Duration
    /// What was resident at `time`; nil where only the mark was read, before it was set back.
    let resident: Bytes?
    /// What was resident at some instant between the two times; nil where the mark did not rise.
    let risenTo: Bytes?

    /// To what the mark rose since an instant not after `time`; nil where it did not, or may have done so before.
    func rise(since start: Duration) -> Bytes? {
      after >= start && time > start ? risenTo : nil
    }
  }

  /// In the order of time.
  let steps: [Step]

  init(samples: [Sample], marks: [Mark]) {
    var resets = marks.lazy.compactMap { mark in mark.peakBefore.map { (time: mark.time, peak: $0) } }.makeIterator()
    var reset = resets.next()
    var steps: [Step] = []
    var (earlier, mark) = (Duration.zero, Bytes.zero)
    func read(_ peak: Bytes, resident: Bytes?, at time: Duration) {
      steps.append(Step(after: earlier, time: time, resident: resident, risenTo: peak > mark ? peak : nil))
      (earlier, mark) = (time, peak)
    }
    func setBack(before time: Duration?) {
      while let due = reset, time.map({ due.time < $0 }) ?? true {
        read(due.peak, resident: nil, at: due.time)
        mark = .zero
        reset = resets.next()
      }
    }
    for sample in samples {
      guard let main = sample.main else { continue }
      setBack(before: sample.time)
      read(main.peak, resident: main.resident, at: sample.time)
    }
    setBack(before: nil)
    self.steps = steps
  }

  /// The step that shows the most memory in a window, the first of several; nil where the window has no step.
  ///
  /// A rise that may have come before the window is left out: the program may have been elsewhere then.
  func highest(in window: ClosedRange<Duration>) -> (peak: Bytes, step: Step)? {
    steps.slice(of: window, by: \.time)
      .reduce(into: nil) { (highest: inout (peak: Bytes, step: Step)?, step) in
        let known = [step.resident, step.rise(since: window.lowerBound)].compactMap(\.self)
        guard let peak = known.max(), peak > highest?.peak ?? Bytes(-1) else { return }
        highest = (peak, step)
      }
  }

  /// Whether ``highest(in:)`` missed nothing of the window.
  ///
  /// It did not where the mark rose in the window, since it then shows the most of all time since it was set back; and
  /// where nothing can hide between the last reading in the window and its end: the mark was read just there, or had
  /// not risen at the next reading, or there was no more to read (`isReadAtEnd`: at the very end of the process). A
  /// window that ends at the last of all readings since nothing is known of later times is not read at its end.
  func isExact(in window: ClosedRange<Duration>, isReadAtEnd: Bool) -> Bool {
    let inside = steps.slice(of: window, by: \.time)
    guard inside.contains(where: { $0.rise(since: window.lowerBound) != nil }) else { return false }
    let isReadThere = inside.last?.time == window.upperBound
    if isReadThere, inside.last?.resident == nil { return true }
    guard inside.endIndex < steps.endIndex else { return isReadAtEnd }
    return isReadThere || steps[inside.endIndex].risenTo == nil
  }
}
