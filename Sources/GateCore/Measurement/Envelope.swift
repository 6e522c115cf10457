/// The highest memory of the main process, including the time between samples.
///
/// It follows from two rules:
/// - If a high-water mark (`VmHWM`, proc_pid_status(5)) is above the previous one, it was reached between the two
///   samples, even if neither shows that much resident memory: the kernel raises the mark only to the resident size.
/// - A mark that was reset (``Mark/peakBefore``) counts as read just before the reset, and the next one from zero.
///
/// The first mark of a process that becomes the main one may be older than the previous sample, so it is no rise.
///
/// A mark below the previous one means nothing: it belongs to another program after an exec, or it lags, since the
/// kernel updates it from inexact per-CPU counters (kernel commits f1a7941243c1 and 82241a83cd15; by 16 to 368 KiB in
/// 330 runs on 2 CPUs).
struct Envelope {
  /// The time from one reading of the mark to the next.
  struct Step {
    /// The time of the previous reading; the exec for the first step.
    let after: Duration
    let time: Duration
    /// Resident memory at `time`; nil if only the mark was read, before its reset.
    let resident: Bytes?
    /// Resident memory at some time between the two readings; nil if the mark did not rise.
    let risenTo: Bytes?

    /// The mark, if it has risen since `start`; nil if it has not, or may have risen earlier.
    func rise(since start: Duration) -> Bytes? {
      after >= start && time > start ? risenTo : nil
    }
  }

  /// In order of time.
  let steps: [Step]

  init(samples: [Sample], marks: [Mark]) {
    var resets = marks.lazy.compactMap { mark in mark.peakBefore.map { (time: mark.time, peak: $0) } }.makeIterator()
    var reset = resets.next()
    var steps: [Step] = []
    var (earlier, mark) = (Duration.zero, Bytes.zero)
    var process = samples.first { $0.main != nil }?.process
    func read(_ peak: Bytes, resident: Bytes?, at time: Duration, isOther: Bool = false) {
      let hasRisen = peak > mark && !isOther
      steps.append(Step(after: earlier, time: time, resident: resident, risenTo: hasRisen ? peak : nil))
      (earlier, mark) = (time, peak)
    }
    func applyResets(before time: Duration?) {
      while let due = reset, time.map({ due.time < $0 }) ?? true {
        read(due.peak, resident: nil, at: due.time)
        mark = .zero
        reset = resets.next()
      }
    }
    for sample in samples {
      guard let main = sample.main else { continue }
      applyResets(before: sample.time)
      read(main.peak, resident: main.resident, at: sample.time, isOther: sample.process != process)
      process = sample.process
    }
    applyResets(before: nil)
    self.steps = steps
  }

  /// The step with the most memory in a window, the first of equal ones; nil if the window has no step.
  ///
  /// A rise that may have happened before the window is ignored.
  func highest(in window: ClosedRange<Duration>) -> (peak: Bytes, step: Step)? {
    steps.slice(of: window, by: \.time)
      .reduce(into: nil) { (highest: inout (peak: Bytes, step: Step)?, step) in
        let known = [step.resident, step.rise(since: window.lowerBound)].compactMap(\.self)
        guard let peak = known.max(), peak > highest?.peak ?? Bytes(-1) else { return }
        highest = (peak, step)
      }
  }

  /// Whether ``highest(in:)`` is exact for the window.
  ///
  /// The mark must have risen in the window, since it then is the maximum since its reset. And nothing may have
  /// happened between the last reading in the window and its end: the mark was read at the end, had not risen at the
  /// next reading, or was read when the process exited (`isReadAtEnd`).
  func isExact(in window: ClosedRange<Duration>, isReadAtEnd: Bool) -> Bool {
    let inside = steps.slice(of: window, by: \.time)
    guard inside.contains(where: { $0.rise(since: window.lowerBound) != nil }) else { return false }
    let isReadThere = inside.last?.time == window.upperBound
    if isReadThere, inside.last?.resident == nil { return true }
    guard inside.endIndex < steps.endIndex else { return isReadAtEnd }
    return isReadThere || steps[inside.endIndex].risenTo == nil
  }
}
