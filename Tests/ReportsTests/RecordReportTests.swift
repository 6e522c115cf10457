import GateCore
import Testing

@testable import GateApplication

@Suite("The report of a recorded command")
struct RecordReportTests {
  /// A start-up, a plateau and a spike, read every 10 ms.
  static func recording(method: MeasurementMethod = .sampled, samples: Int = 120) -> Recording {
    let readings = (0..<samples).map { index -> Sample in
      let level: Int64 = index == 80 ? 28 : 20
      let resident = Bytes.mebibytes(index < 30 ? Int64(2 + index / 2) : level)
      let counters = MemoryReading(
        resident: resident, peak: resident, anonymous: resident, file: .zero, shared: .zero
      )
      return Sample(time: .milliseconds(index * 10), main: counters, tree: resident, processes: 3)
    }
    return Recording(
      method: method, samples: readings,
      composition: composition, compositions: method.isTraced ? [atPeak] : [],
      end: End(.exited, code: 0), duration: .milliseconds(1200), widestGap: .milliseconds(12),
      outputTail: "", notes: []
    )
  }

  private static let composition = Composition(
    anonymous: .mebibytes(17), file: .mebibytes(3), shared: .zero, stack: .kibibytes(132), heap: .mebibytes(12)
  )

  private static let atPeak = CompositionReading(
    time: .milliseconds(806),
    composition: Composition(
      anonymous: .mebibytes(24), file: .kibibytes(3500), shared: .kibibytes(64), stack: .kibibytes(132),
      heap: .mebibytes(12), lazilyFreed: .mebibytes(1), hugePages: .mebibytes(8),
      libraries: [
        .init(name: "libc.so.6", resident: .kibibytes(1800)), .init(name: "libstdc++.so.6", resident: .kibibytes(900)),
        .init(name: "worker", resident: .kibibytes(400)), .init(name: "libm.so.6", resident: .kibibytes(300)),
        .init(name: "ld-linux-x86-64.so.2", resident: .kibibytes(80)),
        .init(name: "table.db", resident: .kibibytes(20)),
      ]
    ),
    proportional: .mebibytes(26)
  )

  static var one: ScenarioResult {
    var scenario = Fixture.scenario("sh -c 'worker & worker'", .pass)
    var repetition = Fixture.repetitions(peak: 29_360_128, steady: 20_971_520, count: 1)[0]
    repetition.metrics[.growth] = 1536.4
    repetition.growth = Growth(slope: 1536.4, low: 1400, high: 1700.2, kind: .settling)
    repetition.metrics[.spike] = 8_388_608
    repetition.processes = 3
    repetition.largestProcesses = Fixture.processes(3, exact: false)
    repetition.phases = [.init(name: "load", metrics: [.peakRSS: 20_971_520])]
    scenario.repetitions = [repetition]
    return scenario
  }

  static var several: ScenarioResult {
    var scenario = one
    scenario.repetitions = Fixture.repetitions(peak: 29_360_128, steady: 20_971_520, count: 5, step: 65_536)
    scenario.repetitions[4].end = End(.crash, signal: .segv, cause: .coreDumped)
    scenario.repetitions[4].metrics[.steadyRSS] = nil
    scenario.repetitions[4].steadiness = .drifting
    return scenario
  }

  /// The same with all values of the traced method.
  static var traced: ScenarioResult {
    var scenario = Fixture.traced(one)
    scenario.repetitions[0].metrics[.faultRate] = 12_897_485
    scenario.repetitions[0].spike = Fixture.spike
    scenario.repetitions[0].spike?.height = .mebibytes(8)
    scenario.repetitions[0].phases = [
      .init(name: "load", metrics: [.peakRSS: 29_360_128], peakIsExact: true),
      .init(name: "idle", metrics: [.peakRSS: 20_971_520]),
    ]
    return scenario
  }

  static var killed: ScenarioResult {
    var scenario = Fixture.outOfMemory
    scenario.verdict = .failed
    return scenario
  }

  static var hostile: ScenarioResult {
    var scenario = Fixture.traced(Fixture.hostile, processes: 40)
    for index in scenario.repetitions[4].largestProcesses.indices {
      scenario.repetitions[4].largestProcesses[index].command = "\u{1b}[2J\u{202e}\n漢字名前"
    }
    scenario.repetitions[4].spike = Fixture.spike
    scenario.repetitions[4].spike?.phase = "\u{1b}[31m\rphase"
    scenario.repetitions[4].end = End(.crash, signal: .segv, proof: .kernelLog(line: "\u{1b}]0;x\u{7}proof"))
    scenario.composition?.libraries = [.init(name: "\u{9b}2Jlib\n.so", resident: .mebibytes(2))]
    return scenario
  }

  static let cases: [(name: String, scenario: ScenarioResult, recording: Recording?)] = [
    ("one", one, recording()), ("several", several, recording()), ("short", one, recording(samples: 1)),
    ("bare", several, nil), ("values", Fixture.reporting, nil),
    ("traced", traced, recording(method: .tracedInCgroup)), ("out-of-memory", killed, nil),
    ("hostile", hostile, recording(method: .tracedInCgroup)),
  ]

  @Test("The reports match the golden files", arguments: cases)
  func golden(name: String, scenario: ScenarioResult, recording: Recording?) throws {
    let text = RecordReport.text(scenario, recording: recording, style: TerminalStyle())
    try Golden.expect(text, "record-\(name).txt")
  }

  @Test("A failed command shows its last output; one that did not start shows a hint")
  func failed() {
    var scenario = Self.one
    let problem = Failure.Problem.launch(
      error: LaunchError(.execution, .system(code: 13), program: "worker", hint: .noPermission))
    scenario.repetitions[0].end = End(.startFailed, cause: .startFailed(problem: problem))
    scenario.failure = Failure(part: .init(.start), problem: problem, output: "1\nno licence\n")
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle())
    #expect(text.contains("  start: cannot execute `worker`: permission denied ("))
    #expect(text.contains("  last output:\n  │ 1\n  │ no licence\n"))
  }

  @Test("A command whose memory could not be read before its end says so, one that failed has another reason")
  func unread() {
    var scenario = Self.one
    scenario.repetitions[0].metrics[.peakRSS] = nil
    let line = "  no peak: the target ended before 5 readings of it were made\n"
    #expect(RecordReport.text(scenario, recording: nil, style: TerminalStyle()).contains(line))
    scenario.failure = Failure(part: .init(.start), problem: .interrupted)
    #expect(!RecordReport.text(scenario, recording: nil, style: TerminalStyle()).contains("no peak: "))
  }

  @Test(
    "Growth is shown with its interval and its kind",
    arguments: [
      (
        Growth(slope: 4300, low: 4200, high: 4500, kind: .continuous),
        "(95 % interval: 4.1 KiB to 4.4 KiB): grows continuously"
      ),
      (
        Growth(slope: 4300, low: 4200, high: 4500, kind: .settling),
        "(95 % interval: 4.1 KiB to 4.4 KiB): still rising; may be warm-up"
      ),
      (Growth(slope: 64, low: 60, high: 70.5, kind: .level), "(95 % interval: 60 B to 70.5 B): grows slowly"),
      (Growth(slope: -3, low: -4, high: -2, kind: .level), "(95 % interval: -4 B to -2 B): falling"),
      (Growth(slope: 0, low: 0, high: 0, kind: .level), "(95 % interval: 0 B to 0 B): level"),
    ])
  func growth(growth: Growth, words: String) {
    var scenario = Self.one
    scenario.growthIsPerIteration = true
    scenario.repetitions[0].growth = growth
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle(width: 120))
    #expect(text.contains("  growth: "))
    #expect(text.contains("/iteration \(words)\n"))
  }

  @Test("Repetitions are counted per kind of growth and per unsteady state")
  func kinds() {
    var scenario = Self.several
    for (index, kind) in [Growth.Kind.continuous, .continuous, .continuous, .settling].enumerated() {
      let slope = 4096 + Double(index)
      scenario.repetitions[index].growth = Growth(slope: slope, low: 4000, high: 4200, kind: kind)
      scenario.repetitions[index].steadiness = index == 0 ? .unsteady : .drifting
    }
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle(width: 160))
    #expect(text.contains("grows continuously (3 of 5), still rising; may be warm-up (1 of 5)\n"))
    let (unsteady, drifting) = ("resident memory never became steady", "resident memory rose or fell continuously")
    #expect(text.contains("  no steady state: \(unsteady) (1 of 5), \(drifting) (4 of 5)\n"))
  }

  @Test("Without Unicode the report is ASCII")
  func ascii() throws {
    let text = RecordReport.text(Self.one, recording: Self.recording(), style: TerminalStyle(unicode: false))
    #expect(text.filter { !$0.isASCII } == "")
    try Golden.expect(text, "record-ascii.txt")
  }

  @Test("Every line fits the width", arguments: cases, [40, 80, 200])
  func width(of subject: (name: String, scenario: ScenarioResult, recording: Recording?), columns: Int) {
    let style = TerminalStyle(width: columns, colour: true)
    let text = RecordReport.text(subject.scenario, recording: subject.recording, style: style)
    let tooWide = Terminal.withoutColour(text).split(separator: "\n").filter { Terminal.columns($0) > columns }
    #expect(tooWide == [])
  }

  @Test("Untrusted text cannot control the terminal or change the text direction")
  func hostileNames() {
    let text = RecordReport.text(Self.hostile, recording: Self.recording(method: .traced), style: TerminalStyle())
    let kinds: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
    #expect(text.unicodeScalars.filter { $0 != "\n" && kinds.contains($0.properties.generalCategory) }.isEmpty)
  }

  @Test(
    "The report names how tree memory was counted",
    arguments: [
      (.cgroup, "each page once"), (.proportional, "shared pages divided among processes (Pss)"),
      (.upperBound, "upper bound (shared pages count once per process)"),
    ] as [(TreeMethod, String)])
  func treeMethod(method: TreeMethod, words: String) {
    var scenario = Self.one
    scenario.repetitions[0].treeMethod = method
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle())
    #expect(text.contains("42.0 MiB    \(words)\n"))
    scenario.repetitions[0].processes = 1
    #expect(!RecordReport.text(scenario, recording: nil, style: TerminalStyle()).contains("tree peak"))
  }

  @Test("The interval is the usual time between samples, even after a burst at the start")
  func interval() {
    var recording = Self.recording()
    let counters = recording.samples[0].main
    let loading = (1...500).map { Sample(time: .microseconds($0 * 10), main: counters, tree: .zero, processes: 1) }
    recording.samples.insert(contentsOf: loading, at: 1)
    let text = RecordReport.text(Self.one, recording: recording, style: TerminalStyle(width: 200))
    #expect(text.contains("tree read every 10.0 ms, widest gap 12.0 ms\n"))
  }

  @Test("A phase's peak is exact only if it is exact in every repetition")
  func phases() {
    var scenario = Self.several
    for index in scenario.repetitions.indices {
      scenario.repetitions[index].phases = [
        .init(name: "load", metrics: [.peakRSS: 20_971_520], peakIsExact: index < 4)
      ]
    }
    let text = RecordReport.text(scenario, recording: nil, style: TerminalStyle())
    #expect(text.contains("peak in load  20.0 MiB  20.0 MiB – 20.0 MiB  exact in 4 of 5\n"))
  }

  @Test("The curve has eight rows, and a flat curve stays flat")
  func curve() {
    var recording = Self.recording()
    for index in recording.samples.indices {
      recording.samples[index].main?.resident = Bytes(20_000_000 + Int64(index % 2) * 4096)
    }
    let text = RecordReport.text(Self.one, recording: recording, style: TerminalStyle())
    let rows = text.split(separator: "\n").filter { $0.contains("│") || $0.contains("┤") }
    #expect(rows.count == 8)
    #expect(rows.dropFirst().filter { !$0.contains("█") } == [])
  }
}
