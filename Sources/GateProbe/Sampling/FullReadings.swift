import GateCore

/// When all processes were read, while there are too many to read in each sweep.
///
/// Without a tracer, which reads the peak of each process at its exit, these readings are all that is known of it.
struct FullReadings {
  var last: Int64 = 0
  var next: Int64 = 0
  /// The longest time between two of them.
  private(set) var widestGap: Int64 = 0

  /// The pause after a reading, and its least length as a multiple of what that took (2 % of a CPU).
  private static let (pause, pausePerCost): (Int64, Int64) = (50_000_000, 50)

  /// After a longer gap the peaks of the processes are not known well enough for a verdict.
  private static let longestGap: Int64 = 500_000_000

  mutating func note(_ time: Int64, cost: Int64) {
    if last > 0 { widestGap = max(widestGap, time - last) }
    (last, next) = (time, time + max(Self.pause, cost * Self.pausePerCost))
  }

  var note: RecordingNote? {
    widestGap > Self.longestGap ? .processesSeldomRead(gap: .nanoseconds(widestGap)) : nil
  }
}

extension SamplerState {
  /// Reads all processes if that is due; returns whether another one became the main process.
  mutating func readSeldom(at time: Int64) -> Bool {
    guard !reportsAll, time >= fullReadings.next else { return false }
    let before = ThreadTime.nanoseconds()
    _ = readOthers(at: time)
    fullReadings.note(time, cost: ThreadTime.nanoseconds() - before)
    return switchToLargest()
  }
}
