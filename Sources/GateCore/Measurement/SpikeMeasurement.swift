extension Recording {
  /// The highest rise above the steady level, in bytes, and what is known of it.
  ///
  /// Where the mark rose between two readings it is exact though no reading saw it. After a warm-up it is counted from
  /// the first reading at the level on, since the steady state's first stretch may begin with the end of the warm-up.
  /// What stays within the quiet band has a height and is no spike.
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

  /// The phase that was on just before an instant; a mark that was set back there is still of the phase that ends.
  private func phase(before time: Duration) -> String? {
    var name: String?
    for mark in marks where mark.time < time {
      if case .phase(let started) = mark.event { name = started }
    }
    return name
  }

  /// The share of one CPU from which on a process counts as busy.
  private static let busyShare = 0.8

  /// The shortest time over which CPU time says something of a share of 0.8.
  ///
  /// `utime` and `stime` of proc_pid_stat(5) come in ticks, mostly of 10 ms, each cut to a whole one: a process that
  /// works all the time may seem to have worked two ticks less.
  private static let busyStretch = Duration.milliseconds(100)

  /// Whether the main process kept a CPU busy around a span of time, which is widened to both sides where it is short.
  private func keepsCPUBusy(from start: Duration, to end: Duration) -> Bool {
    let known = samples.compactMap { sample in sample.activity.map { (time: sample.time, cpu: $0.cpuTime) } }
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
