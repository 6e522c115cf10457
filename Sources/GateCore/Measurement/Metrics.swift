import Statistics

extension Recording {
  /// The result of this repetition, without unavailable metrics.
  package func result() -> RepetitionResult {
    let envelope = Envelope(samples: samples, marks: marks)
    var result = RepetitionResult(
      end: end,
      duration: duration,
      processes: processes.count,
      metrics: [:],
      phases: phases(in: envelope),
      widestGap: widestGap,
      notes: notes + valueNotes,
      treeMethod: treeMethod,
      largestProcesses: largestProcesses
    )
    result.curve = curve(in: envelope, peak: peak.map { Double($0.count) }, until: lastReading)
    var found = measureSteadyState(in: envelope, to: &result)
    if growthIsPerIteration { result.growth = growthPerIteration }
    found.growth = result.growth
    let measured =
      WholeRunMetric.allCases.map { ($0.name, self.measured($0, found)) } + kinds.map { ($0.name, self.measured($0)) }
    for case (let name, let measured?) in measured {
      result.metrics[name] = measured.value
      if measured.isNearlySteady { result.nearlySteady.append(name) }
    }
    if let scaling {
      result.metrics[ScaleMetric.bytesPerItem.name] = scaling.slope
      result.metrics[ScaleMetric.baseMemory.name] = scaling.base?.rounded()
      result.notes += scaling.shape.map { [.notLinear(axis: scaling.axis, shape: $0)] } ?? []
    }
    let report = TargetReport(marks)
    result.metrics.merge(report.values) { measured, _ in measured }
    (result.units, result.events) = (report.units, report.events)
    result.notes += report.notes
    return result
  }

  /// Whether there are enough iterations for growth per iteration; otherwise it is per second.
  package var growthIsPerIteration: Bool {
    marks.count { $0.event == .iteration } >= Growth.fewestIterations
  }

  /// The composition of the main process's memory closest to its peak.
  ///
  /// Compositions are read rarely; ``Composition/resident`` shows how close it is.
  package var compositionAtPeak: Composition? {
    guard let peak else { return nil }
    func distance(_ reading: CompositionReading) -> Int64 { abs(reading.composition.resident.count - peak.count) }
    return compositions.min { distance($0) < distance($1) }?.composition
  }

  /// Fewer samples show a program that is still being loaded, and are ignored.
  package static let fewestReadings = 5

  /// A slope per second over a shorter steady state, in seconds, is mostly noise of single pages.
  private static let shortestGrowthWindow = 0.5

  /// The highest of all high-water marks and samples of the main process, over all programs that it executed.
  ///
  /// The mark alone may be too low (see ``Envelope``); a sample is exact. Without a reading at the process's exit, the
  /// peak is that of the last sample, unless there are too few.
  private var peak: Bytes? {
    guard hasEndReading || samples.count(where: { $0.main != nil }) >= Self.fewestReadings else { return nil }
    let seen = samples.compactMap { $0.main.map { max($0.peak, $0.resident) } }
    let highest = (seen + marks.compactMap(\.peakBefore) + processes.filter(\.isMain).map(\.peak)).max()
    return highest.flatMap { $0 > .zero ? $0 : nil }
  }

  /// Whether the main process's peak is exact: its high-water mark was read at its exit, and nothing was missed before.
  private var isExact: Bool {
    processes.contains { $0.isMain && $0.isExact }
  }

  /// Whether the main process was seen to end: a tracer then has read it before.
  private var hasEndReading: Bool {
    processes.contains { $0.isMain && ($0.isExact || $0.ending != nil) }
  }

  /// The time from exec to the stop request, or else to the target's end.
  private var window: ClosedRange<Duration> { .zero...max(.zero, stopRequested ?? duration) }

  /// The end of the window, or a later reading of the main process.
  ///
  /// That may have outlived the target, and is read once more when it is killed: this counts for peaks, while for the
  /// steady state the time before is a gap.
  private var lastReading: Duration {
    max(window.upperBound, stopRequested == nil ? samples.last { $0.main != nil }?.time ?? .zero : .zero)
  }

  private var residents: [(time: Duration, value: Double)] {
    samples.compactMap { sample in sample.main.map { (sample.time, Double($0.resident.count)) } }
  }

  /// The memory that page faults made resident in the main process, in bytes per second until the stop request.
  ///
  /// Minor faults (`minflt`, proc_pid_stat(5)) times the page size, between the first and the last sample that has
  /// them; the fault of a huge page counts as one page. If other processes were the main one before, they do not
  /// count.
  private var faultRate: Double? {
    let known = samples.slice(of: window, by: \.time).lazy.filter { $0.activity != nil }
    guard let last = known.last, let first = known.first(where: { $0.process == last.process }),
      let before = first.activity, let after = last.activity,
      last.time > first.time, after.minorFaults >= before.minorFaults
    else { return nil }
    return Double(after.minorFaults - before.minorFaults) * Double(pageSize) / (last.time - first.time).inSeconds
  }
}

// MARK: - The metrics of the whole run

/// What several metrics of one repetition are computed from.
private struct Findings {
  /// That of the main process; nil if its curve is too short.
  var level: SteadyLevel?
  /// The height of the highest spike above it.
  var spike: Double?
  var growth: Growth?
}

/// The value of a metric in one repetition.
private struct MeasuredValue {
  let value: Double
  /// See ``RepetitionResult/nearlySteady``.
  var isNearlySteady = false

  init?(_ value: Double?) {
    guard let value else { return nil }
    self.value = value
  }

  init?(_ amount: Bytes?) { self.init(amount.map { Double($0.count) }) }

  init?(_ state: SteadyLevel?) {
    self.init(state?.level?.rounded())
    isNearlySteady = state?.isNearlySteady == true
  }
}

extension Recording {
  /// nil if this repetition does not have the metric.
  private func measured(_ metric: WholeRunMetric, _ found: Findings) -> MeasuredValue? {
    switch metric {
    case .peakRSS: MeasuredValue(peak)
    case .steadyRSS: MeasuredValue(found.level)
    case .growth: MeasuredValue(found.growth?.slope)
    case .spike: MeasuredValue(found.spike)
    case .retained: MeasuredValue(retained(at: found.level))
    case .faultRate: MeasuredValue(faultRate)
    case .treePeak: MeasuredValue(highestOfTree)
    case .treeSteady: MeasuredValue(levelOfTree)
    }
  }
}

// MARK: - Steady state

extension Recording {
  /// Finds the steady state, and measures the growth and the spike in it.
  private func measureSteadyState(in envelope: Envelope, to result: inout RepetitionResult) -> Findings {
    let readings = residents
    guard let curve = BinnedCurve(readings, within: window) else {
      result.steadiness = .tooShort
      return Findings()
    }
    let state = SteadyLevel(of: curve, readings: readings, settled: settled)
    result.steadiness = state.steadiness
    guard let start = state.start else { return Findings() }
    result.growth = growthPerSecond(curve, from: start)
    let slope = result.growth?.slope
    result.curve?.steady = MemoryCurve.Stretch(of: curve, from: start, slope: slope, until: window.upperBound)
    guard let level = state.level else { return Findings() }
    let spike = spike(above: level, from: curve.beginning(of: start), to: lastReading, in: envelope)
    result.spike = spike.spike
    return Findings(level: state, spike: spike.height)
  }

  /// nil without a mark of a phase or an iteration, or if the memory at the first one could not be read.
  private func retained(at level: SteadyLevel?) -> Double? {
    guard let level = level?.level, let before = marks.first(where: \.beginsLoad)?.resident else { return nil }
    return level.rounded() - Double(before.count)
  }

  private func steadyLevel(
    of readings: [(time: Duration, value: Double)],
    within window: ClosedRange<Duration>,
    settled: ClosedRange<Duration>? = nil
  ) -> SteadyLevel? {
    BinnedCurve(readings, within: window).map { SteadyLevel(of: $0, readings: readings, settled: settled) }
  }

  private func growthPerSecond(_ curve: BinnedCurve, from start: Int) -> Growth? {
    let times = Array(curve.times[start...])
    guard let first = times.first, let last = times.last, last - first >= Self.shortestGrowthWindow,
      times.count >= SteadyState.fewestValues
    else { return nil }
    return Growth(x: times, y: Array(curve.medians[start...]))
  }

  /// The growth per iteration; nil if memory was read in too few iterations.
  private var growthPerIteration: Growth? {
    let levels = IterationLevel.all(of: marks)
    let stretches = IterationLevel.stretches(of: levels).filter { $0.count >= Growth.fewestIterations }
    let growths = (stretches.isEmpty ? [levels[...]] : stretches).compactMap { stretch -> Growth? in
      guard stretch.count >= Growth.fewestIterations else { return nil }
      let start = SteadyState.start(of: stretch.map(\.level), floor: BinnedCurve.quietBand) ?? stretch.count / 2
      return Growth(of: Array(stretch), from: start)
    }
    return growths.sorted { $0.slope < $1.slope }.dropFirst(growths.count / 2).first
  }

  /// The part of a run from the mark of a phase to that of the next one, or to the last reading.
  private struct Stretch {
    let begin: Mark
    let next: Mark?
    let times: ClosedRange<Duration>

    /// What is known of a phase in which no sample was taken, as of a short test.
    var highestAtEnds: Bytes? { [begin.resident, next?.resident].compactMap(\.self).max() }
  }

  /// A phase lasts until the next one or the last reading; its peak is that of the envelope in this time.
  ///
  /// It is not exact if the target ran on before its begin or its end was read.
  private func phases(in envelope: Envelope) -> [RepetitionResult.Phase] {
    let starts = marks.compactMap { mark in mark.phase.map { (name: $0, mark: mark) } }
    guard !starts.isEmpty else { return [] }
    let (finish, readings, isExact) = (lastReading, residents, isExact)
    return starts.enumerated().map { index, start in
      let (begin, next) = (start.mark, index + 1 < starts.count ? starts[index + 1].mark : nil)
      let stretch = Stretch(begin: begin, next: next, times: begin.time...max(begin.time, next?.time ?? finish))
      var phase = RepetitionResult.Phase(name: start.name, metrics: [:])
      for metric in WholeRunMetric.allCases {
        phase.metrics[metric.name] = value(of: metric, in: stretch, readings, envelope)
      }
      phase.peakIsExact =
        !begin.isLate && next?.isLate != true && (isExact || !method.isTraced)
        && envelope.isExact(in: stretch.times, isReadAtEnd: isExact)
      return phase
    }
  }

  /// The value of a metric in a phase; nil if phases do not have it (``WholeRunMetric/Row/isOfPhase``).
  private func value(
    of metric: WholeRunMetric,
    in phase: Stretch,
    _ readings: [(time: Duration, value: Double)],
    _ envelope: Envelope
  ) -> Double? {
    switch metric {
    case .peakRSS: (envelope.highest(in: phase.times)?.peak ?? phase.highestAtEnds).map { Double($0.count) }
    case .steadyRSS: steadyLevel(of: readings, within: phase.times.clamped(to: window))?.level?.rounded()
    case .retained: retained(by: phase)
    case .growth, .spike, .faultRate, .treePeak, .treeSteady: nil
    }
  }

  /// nil if the memory was not read at its begin or end, or if another process is the main one then.
  private func retained(by phase: Stretch) -> Double? {
    let last = samples.last { $0.main != nil }
    let (process, after) = phase.next.map { ($0.process, $0.resident) } ?? (last?.process, last?.main?.resident)
    guard let before = phase.begin.resident, let after, process == phase.begin.process else { return nil }
    return Double((after - before).count)
  }
}

// MARK: - Kinds of memory

extension Recording {
  /// The highest reading, or the level after warm-up.
  private func measured(_ metric: KindMetric) -> MeasuredValue? {
    let readings = metric.scope == .program ? readings(ofProgram: metric.kind) : readings(ofTree: metric.kind)
    guard readings.count >= Self.fewestReadings || hasEndReading else { return nil }
    if metric.isSteady { return MeasuredValue(steadyLevel(of: readings, within: window, settled: settled)) }
    return MeasuredValue(readings.map(\.value).max())
  }

  /// From the samples as far as they have it.
  private func readings(ofProgram kind: MemoryKind) -> [(time: Duration, value: Double)] {
    let ofSample: KeyPath<MemoryReading, Bytes>? =
      switch kind {
      case .anonymous: \.anonymous
      case .file: \.file
      case .shared: \.shared
      default: nil
      }
    guard let ofSample else {
      return kindReadings.compactMap { reading in
        (reading.program?[kind]).map { (reading.time, Double($0)) }
      }
    }
    return samples.compactMap { sample in sample.main.map { (sample.time, Double($0[keyPath: ofSample].count)) } }
  }

  private func readings(ofTree kind: MemoryKind) -> [(time: Duration, value: Double)] {
    kindReadings.compactMap { reading in reading.tree[kind].map { (reading.time, Double($0)) } }
  }
}

// MARK: - Trees

extension Recording {
  private var hasTreeReadings: Bool {
    let allHaveEnded = !processes.isEmpty && processes.allSatisfy { $0.isExact || $0.ending != nil }
    return allHaveEnded || samples.count >= Self.fewestReadings
  }

  /// The tree has at least the memory of its largest process.
  private var highestOfTree: Bytes? {
    guard hasTreeReadings else { return nil }
    let highest = (samples.map(\.tree) + [treePeak, peak ?? .zero]).max() ?? .zero
    return highest > .zero ? highest : nil
  }

  private var levelOfTree: SteadyLevel? {
    guard hasTreeReadings else { return nil }
    let readings = samples.map { (time: $0.time, value: Double($0.tree.count)) }
    return steadyLevel(of: readings, within: window, settled: settled)
  }

  /// The largest first, then by ID; the main process is last if it would be left out.
  private var largestProcesses: [ProcessRecord] {
    let sorted = processes.sorted { ($1.peak, $0.id) < ($0.peak, $1.id) }
    let (kept, rest) = (sorted.prefix(RepetitionResult.mostProcesses), sorted.dropFirst(RepetitionResult.mostProcesses))
    guard !kept.contains(where: \.isMain), let main = rest.first(where: \.isMain) else { return Array(kept) }
    return kept.dropLast() + [main]
  }
}

// MARK: - Notes

extension Recording {
  /// In shorter runs the last sample may be long before the end: equal runs differed by up to 34 %.
  package static let briefest = Duration.milliseconds(500)

  /// How many killed processes are told of.
  private static let mostKills = 3

  /// Notes on killed processes: if the target failed with them, or if a process from outside of it sent the signal.
  ///
  /// Programs also end their own processes with SIGKILL, which is their business.
  private var killNotes: [RecordingNote] {
    let hasFailed = [.killed, .oom].contains(end.kind) || end.kind == .exited && end.code != 0
    let told = kills.filter { hasFailed || $0.sender?.isOfTarget == false }
    return told.prefix(Self.mostKills).map { .killed(process: $0) }
  }

  /// Notes on the values, in addition to those made during the repetition.
  private var valueNotes: [RecordingNote] {
    var notes: [RecordingNote] = []
    if unknownMarks > 0 { notes.append(.unknownMarks(lines: unknownMarks)) }
    // In a cgroup each page counts once.
    if treeMethod != .cgroup, samples.contains(where: { $0.processes > 1 }) {
      notes.append(.treeMethod(method: treeMethod))
    }
    if !hasEndReading, peak != nil, duration < Self.briefest { notes.append(.brief) }
    if method.isTraced, outputTail.split(whereSeparator: \.isNewline).contains(where: Self.skipsUnderTracer) {
      notes.append(.skippedUnderTracer)
    }
    return notes + killNotes + failedProcesses
  }

  // text from outside: what programs print that do not run under a tracer
  private static let refusals = ["skip", "not run", "refus", "does not work", "not permitted", "exiting"]
  private static let tracers = ["ptrace", "traced", "debugger", "tracerpid"]

  /// Whether a line of the output is like `skipping: process is being traced`.
  private static func skipsUnderTracer(_ line: Substring) -> Bool {
    let line = line.lowercased()
    return refusals.contains { line.contains($0) } && tracers.contains { line.contains($0) }
  }

  /// What a shell or a launcher may hide: processes that crashed, and a main process that failed or that any signal ended,
  /// as an OOM daemon or a limit does, before the stop request.
  ///
  /// The end of the first process is judged.
  private var failedProcesses: [RecordingNote] {
    let ended = processes.dropFirst().filter { process in stopRequested.map { process.lastSeen < $0 } ?? true }
    let failed = ended.compactMap { process -> RecordingNote? in
      guard let ending = process.ending else { return nil }
      let isLost = process.isMain && ending != .exited(code: 0) && !isDismissedWorker(process)
      guard ending.isCrash || isLost else { return nil }
      return .processFailed(command: process.command, status: ending)
    }
    var notes: [RecordingNote] = []
    for note in failed where !notes.contains(note) && notes.count < Self.mostFailedProcesses { notes.append(note) }
    return notes
  }

  private static let mostFailedProcesses = 3

  /// Whether SIGTERM ended a fork of a program that lived on and ended well, as `multiprocessing.Pool` ends its workers.
  private func isDismissedWorker(_ process: ProcessRecord) -> Bool {
    guard case .signaled(.term, _) = process.ending else { return false }
    return processes.contains { other in
      other.id == process.parent && other.command == process.command && other.lastSeen >= process.lastSeen
        && other.ending == .exited(code: 0)
    }
  }
}

extension Mark {
  fileprivate var phase: String? {
    if case .phase(let name) = event { name } else { nil }
  }

  /// Whether a phase begins or an iteration is counted here.
  fileprivate var beginsLoad: Bool {
    switch event {
    case .phase, .iteration: true
    case .mark, .value: false
    }
  }
}
