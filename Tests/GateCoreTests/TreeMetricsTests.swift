import GateCore
import Testing

@Suite("Exact ends, process trees, page faults and compositions")
struct TreeMetricsTests {
  private let mebibyte = Curves.mebibyte

  private func process(_ id: Int32, _ peak: Int64, isMain: Bool = false, isExact: Bool = false) -> ProcessRecord {
    ProcessRecord(
      id: id, parent: 1, command: "p\(id)", isMain: isMain, peak: .mebibytes(peak), firstSeen: .zero, lastSeen: .zero,
      isExact: isExact
    )
  }

  @Test("A note names a killed process if the target fails with it, or if another program killed it")
  func killNotes() {
    func notes(_ sender: KillSender?, _ end: End) -> Int {
      var recording = Recording(end: end)
      recording.kills = [KilledProcess(id: 7, command: "cc1", heaviest: [], tree: .zero)]
      recording.kills[0].sender = sender
      return recording.result().notes.count { if case .killed = $0 { true } else { false } }
    }
    let (own, other) = (true, false)
    let failed = [End(.exited, code: 137), End(.killed, signal: .kill), End(.oom, signal: .kill)]
    for end in failed { #expect(notes(nil, end) == 1) }
    #expect(notes(nil, End(.exited, code: 0)) == 0)
    #expect(notes(KillSender(process: 9, command: nil, isOfTarget: own), End(.exited, code: 0)) == 0)
    #expect(notes(KillSender(process: 9, command: nil, isOfTarget: own), End(.exited, code: 137)) == 1)
    #expect(notes(KillSender(process: 9, command: nil, isOfTarget: other), End(.exited, code: 0)) == 1)
    #expect(notes(KillSender(process: nil, command: nil, isOfTarget: other), End(.exited, code: 0)) == 1)
  }

  @Test("A program of a millisecond has an exact peak, without a note, if its peak was read at exit")
  func exitOnly() {
    var recording = Recording(
      samples: [Readings.sample(1, 2, mark: 7)], processes: [process(1, 7, isMain: true, isExact: true)],
      end: End(.exited, code: 0), duration: .milliseconds(1)
    )
    #expect(recording.result().metrics[.peakRSS] == 7 * mebibyte)
    #expect(recording.result().notes.isEmpty)
    recording.processes[0].isExact = false
    #expect(recording.result().metrics.isEmpty)
  }

  @Test("The peak of a main process without samples comes from its process record")
  func leaderWithoutSamples() {
    let samples = (0..<100).map { Sample(time: .milliseconds($0 * 10), main: nil, tree: .mebibytes(30), processes: 2) }
    let recording = Recording(
      samples: samples, processes: [process(1, 9, isMain: true, isExact: true), process(2, 30, isExact: true)],
      end: End(.exited, code: 0), duration: .seconds(1)
    )
    let result = recording.result()
    #expect(result.metrics[.peakRSS] == 9 * mebibyte)
    #expect(result.metrics[.treePeak] == 30 * mebibyte)
    #expect(result.metrics[.treeSteady] == 30 * mebibyte)
    #expect(result.metrics[.steadyRSS] == nil)
  }

  @Test("The peak of a tree is the highest sample, or what the exact peaks of its processes prove")
  func treePeak() {
    var recording = Readings.plateau(20)
    #expect(recording.result().metrics[.treePeak] == 20 * mebibyte)
    recording.treePeak = .mebibytes(31)
    #expect(recording.result().metrics[.treePeak] == 31 * mebibyte)
    // A tree of programs that were too short for samples.
    let brief = Recording(
      processes: [process(1, 7, isMain: true, isExact: true)], treePeak: .mebibytes(8), end: End(.exited, code: 0))
    #expect(brief.result().metrics == [.peakRSS: 7 * mebibyte, .treePeak: 8 * mebibyte])
  }

  @Test("The peak of a tree is never below that of its largest process")
  func treeAboveProcess() {
    var recording = Readings.plateau(20)
    recording.processes = [process(1, 33, isMain: true, isExact: true)]
    #expect(recording.result().metrics[.treePeak] == 33 * mebibyte)
  }

  @Test(
    "A crash, and a main process that failed or was killed, are noted where the target ended well; other ends are not")
  func failedProcesses() throws {
    var recording = Readings.plateau(20)
    recording.processes = (1...5).map { process($0, 7, isMain: $0 == 2) }
    recording.processes[0].ending = .exited(code: 1)
    recording.processes[1].ending = .exited(code: 134)
    recording.processes[2].ending = .signaled(signal: .abrt, coreDumped: false)
    recording.processes[3].ending = .signaled(signal: .term, coreDumped: false)
    recording.processes[4].ending = .exited(code: 1)
    let notes = recording.result().notes.filter { if case .processFailed = $0 { true } else { false } }
    #expect(
      notes == [
        .processFailed(command: "p2", status: .exited(code: 134)),
        .processFailed(command: "p3", status: .signaled(signal: .abrt, coreDumped: false)),
      ])
    // An OOM daemon, the CPU limit, and whoever else may have sent it.
    for name in ["KILL", "TERM", "XCPU", "USR1", "PIPE"] {
      let ending = EndEvidence.Status.signaled(signal: try #require(Signal(name: name)), coreDumped: false)
      recording.processes[1].ending = ending
      #expect(recording.result().notes.contains(.processFailed(command: "p2", status: ending)), "\(name)")
    }
    // A pool ends its workers so, which are forks of its program.
    let term = EndEvidence.Status.signaled(signal: .term, coreDumped: false)
    recording.processes[1].ending = term
    recording.processes[1].parent = recording.processes[2].id
    recording.processes[2].ending = .exited(code: 0)
    #expect(recording.result().notes.contains(.processFailed(command: "p2", status: term)))
    recording.processes[2].command = "p2"
    #expect(!recording.result().notes.contains(.processFailed(command: "p2", status: term)))
    recording.processes[2].ending = .exited(code: 1)
    #expect(recording.result().notes.contains(.processFailed(command: "p2", status: term)))
    recording.stopRequested = .zero
    #expect(!recording.result().notes.contains { if case .processFailed = $0 { true } else { false } })
  }

  @Test("A recorded peak above all samples is the peak; an exact end without memory has none")
  func recordOnly() {
    var recording = Readings.plateau(20)
    recording.processes = [process(1, 33, isMain: true, isExact: true)]
    #expect(recording.result().metrics[.peakRSS] == 33 * mebibyte)
    let empty = Recording(processes: [process(1, 0, isMain: true, isExact: true)], end: End(.unknown))
    #expect(empty.result().metrics.isEmpty)
  }

  @Test(
    "A note names the tree method if several processes ran at once",
    arguments: [
      (TreeMethod.cgroup, []), (.proportional, [.treeMethod(method: .proportional)]),
      (.upperBound, [.treeMethod(method: .upperBound)]),
    ] as [(TreeMethod, [RecordingNote])]
  )
  func treeMethod(method: TreeMethod, notes: [RecordingNote]) {
    var recording = Readings.plateau()
    recording.treeMethod = method
    #expect(recording.result().treeMethod == method)
    #expect(recording.result().notes.isEmpty)
    recording.samples[7].processes = 2
    #expect(recording.result().notes == notes)
  }

  @Test("The twenty largest processes are listed in order of size, always with the main process")
  func largest() {
    var recording = Readings.plateau()
    recording.processes = [process(1, 1, isMain: true)] + (2...30).map { process($0, Int64($0 / 2)) }
    let ids = recording.result().largestProcesses.map(\.id)
    #expect(ids == [30, 28, 29, 26, 27, 24, 25, 22, 23, 20, 21, 18, 19, 16, 17, 14, 15, 12, 13, 1])
    #expect(recording.result().processes == 30)
    recording.processes[0].peak = .mebibytes(99)
    #expect(recording.result().largestProcesses.first?.id == 1)
    #expect(recording.result().largestProcesses.count == 20)
  }

  @Test("The fault rate is the faulted bytes divided by the time between samples that have the counter")
  func faults() {
    var recording = Readings.plateau()
    func rate(ofPages size: Double) -> Double { 64 * size * 100 }
    #expect(recording.result().metrics[.faultRate] == nil)
    for index in 100..<300 {
      recording.samples[index].activity = Activity(minorFaults: Int64(1000 + 64 * (index - 100)), cpuTime: .zero)
    }
    #expect(recording.result().metrics[.faultRate] == rate(ofPages: 4096))
    recording.pageSize = 65_536
    #expect(recording.result().metrics[.faultRate] == rate(ofPages: 65_536))
    recording.stopRequested = .seconds(2)
    recording.samples[299].activity?.minorFaults = 1 << 40
    #expect(recording.result().metrics[.faultRate] == rate(ofPages: 65_536))
    recording.stopRequested = .seconds(1)
    #expect(recording.result().metrics[.faultRate] == nil)
  }

  @Test("The composition at the peak is the reading closest to the peak")
  func composition() {
    func reading(_ mebibytes: Int64) -> CompositionReading {
      CompositionReading(
        time: .zero, composition: Composition(anonymous: .mebibytes(mebibytes), file: .zero, shared: .zero)
      )
    }
    var recording = Readings.plateau { $0 >= 100 ? 50 : 0 }
    #expect(recording.compositionAtPeak == nil)
    recording.compositions = [reading(20), reading(45), reading(30)]
    #expect(recording.compositionAtPeak?.anonymous == .mebibytes(45))
  }

  // MARK: Judging

  private static let gate = Gate(rules: [
    GateRule(metric: .treePeak, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
  ])

  private func measurements(_ methods: [TreeMethod]) -> ScenarioMeasurement {
    var measurements = Given.measurements(
      [.treePeak: Given.values(100, count: methods.count), .peakRSS: Given.values(50, count: methods.count)],
      gate: Self.gate
    )
    for (index, method) in methods.enumerated() { measurements.repetitions[index].treeMethod = method }
    return measurements
  }

  @Test(
    "Trees measured with different methods are not compared",
    arguments: [
      (TreeMethod.cgroup, Array(repeating: TreeMethod.cgroup, count: 5), Verdict.pass, nil),
      (
        .upperBound, Array(repeating: .cgroup, count: 5), .inconclusive,
        .otherTreeMethod(baseline: .upperBound, current: .cgroup)
      ),
      (
        .cgroup, [.cgroup, .proportional, .cgroup], .inconclusive, .mixedTreeMethods(methods: [.cgroup, .proportional])
      ),
      (.upperBound, [.proportional, .upperBound, .proportional, .proportional, .proportional], .pass, nil),
    ] as [(TreeMethod, [TreeMethod], Verdict, VerdictReason?)]
  )
  func differentMethods(baseline: TreeMethod, current: [TreeMethod], verdict: Verdict, reason: VerdictReason?) throws {
    var approved = Given.baseline([.treePeak: Given.values(100)])
    approved.treeMethod = baseline
    let result = measurements(current).judged(against: .baseline(approved))
    #expect(result.verdict == verdict)
    #expect(result.metrics.first?.reason == reason)
  }

  @Test("A baseline has one tree method, and no tree values if methods differ")
  func baselines() {
    func baseline(_ methods: [TreeMethod]) -> Baseline {
      Baseline(
        of: measurements(methods).judged(against: .missing),
        approval: Given.approval
      )
    }
    let cgroup = baseline([.cgroup, .cgroup])
    #expect(cgroup.treeMethod == .cgroup && cgroup.metrics[.treePeak]?.count == 2)
    let mixed = baseline([.cgroup, .upperBound])
    #expect(mixed.metrics[.treePeak] == nil && mixed.metrics[.peakRSS]?.count == 2)
    let again = ScenarioMeasurement(of: cgroup)
    #expect(again.repetitions.map(\.treeMethod) == [.cgroup, .cgroup])
  }

  @Test("A fault rate is judged like other metrics and has its unit")
  func faultGate() throws {
    let gate = Gate(rules: [
      GateRule(metric: .faultRate, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
    ])
    let result = Given.measurements([.faultRate: Given.values(30)], gate: gate)
      .judged(against: .baseline(Given.baseline([.faultRate: Given.values(20)])))
    #expect(result.verdict == .regression)
    #expect(result.metrics.first?.unit == "bytes/second")
    let metric = try #require(result.metrics.first)
    #expect(metric.reason == .rise && metric.change?.shift == 10_485_760.0 && metric.allowed == 0.03 * 20 * 1_048_576)
    let missing = Given.measurements([.peakRSS: Given.values(30)], gate: gate)
      .judged(against: .baseline(Given.baseline([.faultRate: Given.values(20)])))
    #expect(missing.metrics.first?.reason == .unavailable(cause: .tooFewReadings))
  }
}
