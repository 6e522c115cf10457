extension Recording {
  /// The highest rise above the steady level in bytes, and its details.
  ///
  /// It is exact if the high-water mark rose between two samples. After a warm-up it counts from the first sample at
  /// the level, since the first bin of the steady state may contain the end of the warm-up. A rise within the quiet
  /// band has a height but is not a spike.
  func spike(
    above level: Double,
    from start: Duration,
    to end: Duration,
    in envelope: Envelope
  ) -> (height: Double, spike: RepetitionResult.Spike?) {
    let settled = samples.slice(of: min(start, end)...end, by: \.time).first { sample in
      sample.main.map { abs(Double($0.resident.count) - level) <= BinnedCurve.band(around: level) } ?? false
    }
    guard let begin = start > .zero ? settled?.time : start, let (peak, step) = envelope.highest(in: begin...end) else {
      return (0, nil)
    }
    let height = max(0, Double(peak.count) - level).rounded()
    guard height > BinnedCurve.quietBand else { return (height, nil) }
    let spike = RepetitionResult.Spike(
      height: Bytes(clampedFrom: height),
      after: step.after,
      before: step.time,
      phase: phase(before: step.time),
      isBusy: keepsCPUBusy(from: step.after, to: step.time)
    )
    return (height, spike)
  }

  /// The phase just before a time: a mark that was reset at this time belongs to the phase that ends.
  private func phase(before time: Duration) -> String? {
    var name: String?
    for mark in marks where mark.time < time {
      if case .phase(let started) = mark.event { name = started }
    }
    return name
  }

  /// A process that uses at least this share of a CPU is busy.
  private static let busyShare = 0.8

  /// The shortest time over which CPU time can show a share of 0.8.
  ///
  /// `utime` and `stime` of proc_pid_stat(5) are each rounded down to ticks of usually 10 ms: a process that is always
  /// busy may seem to have used two ticks less.
  private static let busyStretch = Duration.milliseconds(100)

  /// Whether the main process kept a CPU busy around a time span, which is extended on both sides if it is short.
  private func keepsCPUBusy(from start: Duration, to end: Duration) -> Bool {
    let process = samples.last { $0.time <= end }?.process
    let known = samples.compactMap { sample in
      sample.process == process ? sample.activity.map { (time: sample.time, cpu: $0.cpuTime) } : nil
    }
    guard !known.isEmpty else { return false }
    var low = known.lastIndex { $0.time <= start } ?? 0
    var high = known.firstIndex { $0.time >= end } ?? known.count - 1
    while known[high].time - known[low].time < Self.busyStretch, low > 0 || high < known.count - 1 {
      low = max(0, low - 1)
      high = min(known.count - 1, high + 1)
    }
    let wall = known[high].time - known[low].time
    return wall >= Self.busyStretch && known[high].cpu - known[low].cpu >= wall * Self.busyShare
  }
}
