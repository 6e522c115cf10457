import Foundation
import GateCore
import Testing

@Suite("The default gate")
struct StandardGateTests {
  private static let perIteration = MetricName.growth.unit(perIteration: true)

  private func measured(
    _ metrics: [MetricName: [Double?]],
    processes: Int = 1,
    growth kind: Growth.Kind? = nil,
    perIteration: Bool = false
  ) -> ScenarioMeasurement {
    var result = Given.measurements(metrics)
    result.growthIsPerIteration = perIteration
    result.environment.fingerprint.measurement = "traced"
    for index in result.repetitions.indices {
      result.repetitions[index].processes = processes
      guard let kind, let slope = metrics[.growth]?[index] else { continue }
      result.repetitions[index].growth = Growth(slope: slope, low: slope, high: slope, kind: kind)
    }
    return result
  }

  private func baseline(_ metrics: [MetricName: [Double]], growthIn unit: String? = perIteration) -> Baseline {
    var baseline = Given.baseline(metrics)
    baseline.units[.growth] = unit
    baseline.fingerprint.measurement = "traced"
    return baseline
  }

  private func names(_ result: ScenarioResult) -> [String] { result.metrics.map(\.metric.text) }

  @Test("It has the peak and the level; of several processes also those of the tree; with iterations also growth")
  func applicableMetrics() {
    let values = Given.values(10)
    let all: [MetricName: [Double]] = [
      .peakRSS: values, .steadyRSS: values, .treePeak: values, .treeSteady: values, .growth: values.map { _ in 0 },
    ]
    let base = baseline(all)
    #expect(names(measured(all).judged(against: .missing)) == ["peak_rss", "steady_rss"])
    #expect(
      names(measured(all, processes: 2, perIteration: true).judged(against: .baseline(base)))
        == ["peak_rss", "steady_rss", "tree_peak", "tree_steady", "growth"])
  }

  @Test("A rise that only the tree shows is a regression", arguments: [MetricName.treePeak, .treeSteady])
  func tree(metric: MetricName) {
    let same: [MetricName: [Double]] = [
      .peakRSS: Given.values(10), .treePeak: Given.values(50), .treeSteady: Given.values(40),
    ]
    var risen = same
    risen[metric] = Given.values(60)
    #expect(measured(same, processes: 5).judged(against: .baseline(baseline(same))).verdict == .pass)
    #expect(measured(risen, processes: 5).judged(against: .baseline(baseline(same))).verdict == .regression)
  }

  @Test("Memory that is resident in no process is judged as that of the tree, also of a single process")
  func fileInMemory() {
    let peak = Given.values(10)
    func verdict(_ before: Double, _ now: Double) -> (Verdict, [String]) {
      let base = baseline([.peakRSS: peak, .treePeak: Given.values(before)])
      let judged = measured([.peakRSS: peak, .treePeak: Given.values(now)]).judged(against: .baseline(base))
      return (judged.verdict, names(judged))
    }
    #expect(verdict(15, 210) == (.regression, ["peak_rss", "tree_peak"]))
    #expect(verdict(10, 210) == (.regression, ["peak_rss", "tree_peak"]))
    #expect(verdict(210, 10) == (.improved, ["peak_rss", "tree_peak"]))
    #expect(verdict(10, 10.9) == (.pass, ["peak_rss"]))
  }

  @Test("A rise of one process passes without being an improvement if the tree fell by more")
  func outweighed() {
    func judged(_ peak: Double, _ tree: Double) -> ScenarioResult {
      let base = baseline([.peakRSS: Given.values(50), .treePeak: Given.values(200)])
      return measured([.peakRSS: Given.values(peak), .treePeak: Given.values(tree)], processes: 4)
        .judged(against: .baseline(base))
    }
    let mebibyte = 1_048_576.0
    #expect(judged(55, 120).verdict == .pass)
    #expect(
      judged(55, 120).notes.contains(
        .riseOutweighed(metric: .peakRSS, rise: 5 * mebibyte, tree: .treePeak, fall: 80 * mebibyte)))
    let isOnTolerance = judged(55, 120).notes.contains { if case .risesWithinTolerance = $0 { true } else { false } }
    #expect(!isOnTolerance, "it rose beyond its tolerance")
    #expect(judged(95, 160).verdict == .regression)
    #expect(judged(55, 200).verdict == .regression)
    #expect(judged(50, 120).verdict == .improved)
  }

  @Test("A lower tree with a higher process can be approved, so that the tree is held; an equal result changes nothing")
  func outweighedApproval() {
    let base = baseline([.peakRSS: Given.values(50), .treePeak: Given.values(200)])
    func leavesBaseline(_ peak: Double, _ tree: Double) -> Bool {
      let result = measured([.peakRSS: Given.values(peak), .treePeak: Given.values(tree)], processes: 4)
        .judged(against: .missing)
      let review = ApprovalReview(
        of: result, in: RunInfo(id: "run", startedAt: .distantPast), for: nil, replacing: base, head: nil,
        environment: EnvironmentRule())
      return review.passesAgainstPrevious
    }
    #expect(leavesBaseline(50, 200))
    #expect(!leavesBaseline(55, 120))
  }

  @Test("A lower peak is an improvement although no repetition of the baseline has a steady level")
  func fixedLeak() {
    let base = baseline([.peakRSS: Given.values(40)])
    let fixed = measured([.peakRSS: Given.values(14), .steadyRSS: Given.values(13)]).judged(against: .baseline(base))
    #expect(fixed.verdict == .improved)
  }

  @Test(
    "Without a tracer a lower peak is an improvement only where a short peak would have been read",
    arguments: [
      ("traced", 300, 1, Verdict.improved), ("traced+cgroup", 300, 1, .improved), ("sampled", 300, 1, .pass),
      ("sampled+cgroup", 2, 1, .pass), ("sampled", 1, 1, .improved), ("sampled", 1, 2, .pass),
    ])
  func missedPeak(method: String, processes: Int, gap: Int, verdict: Verdict) {
    let base = baseline([.peakRSS: Given.values(10), .treePeak: Given.values(12)])
    var now = measured([.peakRSS: Given.values(1), .treePeak: Given.values(2)], processes: processes)
    now.environment.fingerprint.measurement = method
    for index in now.repetitions.indices {
      (now.repetitions[index].duration, now.repetitions[index].widestGap) = (.seconds(20), .seconds(gap))
    }
    let judged = now.judged(against: .baseline(base))
    let isNoted = judged.notes.contains(.uncertainFall(metric: .peakRSS, cause: .shortPeak))
    #expect(judged.verdict == verdict && isNoted == (verdict == .pass))
  }

  @Test(
    "Growth that fell by less than a few allocations make in all is not an improvement",
    arguments: [(9, Verdict.pass), (30, .pass), (100, .improved)])
  func oneStep(iterations: Int, verdict: Verdict) {
    // One step of 284 KiB in the middle of 9 iterations.
    let base = baseline([.peakRSS: Given.values(44), .growth: Array(repeating: 32_313, count: 5)])
    var now = measured(
      [.peakRSS: Given.values(44), .growth: Given.values(0)], growth: .level, perIteration: true)
    for index in now.repetitions.indices { now.repetitions[index].growth?.iterations = iterations }
    let judged = now.judged(against: .baseline(base))
    let note = Note.uncertainFall(metric: .growth, cause: .fewSteps(iterations: iterations))
    #expect(judged.verdict == verdict && judged.notes.contains(note) == (verdict == .pass))
  }

  @Test("Memory that grew in the baseline and becomes steady is an improvement")
  func becameSteady() {
    let base = baseline(
      [.peakRSS: Given.values(10, count: 10), .growth: Given.values(2, count: 10)], growthIn: "bytes/second")
    func judged(_ level: [Double?], peak: Double = 10, growth: Double = 0) -> ScenarioResult {
      let values: [MetricName: [Double?]] = [
        .peakRSS: Given.values(peak), .steadyRSS: level, .growth: Given.values(growth),
      ]
      return measured(values).judged(against: .baseline(base))
    }
    let steady = judged(Given.values(9))
    #expect(judged(Given.values(9), growth: 2).verdict == .pass, "on a machine that is less busy")
    #expect(steady.verdict == .improved && steady.notes.contains(.becameSteady(metric: .steadyRSS)))
    #expect(judged([9e6, 9e6, 9e6, 9e6, nil]).verdict == .pass)
    #expect(judged(Given.values(9), peak: 10.2).verdict == .pass, "it rose within the tolerance")
  }

  @Test(
    "What was left out and could have raised a gated metric, or hidden a failure, makes a pass inconclusive",
    arguments: [
      (.marksDropped(count: 1, most: 100_000), .inconclusive), (.messagesDropped(count: 1), .inconclusive),
      (.tooFewDescriptors(limit: 64), .inconclusive), (.numbersTooLarge, .pass), (.unknownMarks(lines: 1), .pass),
    ] as [(RecordingNote, Verdict)])
  func incomplete(note: RecordingNote, verdict: Verdict) {
    let values: [MetricName: [Double]] = [.peakRSS: Given.values(10)]
    var result = measured(values)
    result.repetitions[3].notes = [note]
    #expect(result.judged(against: .baseline(baseline(values))).verdict == verdict)
    let gate = Gate(rules: [GateRule(metric: .value("rows"), tolerance: nil, limit: .number(10))])
    var reporting = Given.measurements([.value("rows"): Array(repeating: 5, count: 5)], gate: gate)
    #expect(reporting.judged(against: .missing).verdict == .pass)
    // A line that cannot be read may have been a value.
    for note in [RecordingNote.numbersTooLarge, .unknownMarks(lines: 1)] {
      reporting.repetitions[3].notes = [note]
      #expect(reporting.judged(against: .missing).metrics.first?.reason == .incomplete(note: note))
    }
  }

  @Test("More growth per iteration is a regression; growth that slows down is inconclusive")
  func growth() {
    let peak = Given.values(10)
    let base = baseline([.peakRSS: peak, .growth: [0, 3, 0, 9, 0, 0, 0, 4, 0, 0]])
    func result(_ slopes: [Double], _ kind: Growth.Kind = .level) -> ScenarioResult {
      measured([.peakRSS: peak, .growth: slopes], growth: kind, perIteration: true).judged(against: .baseline(base))
    }
    #expect(result([0, 0, 5, 0, 0]).verdict == .pass)
    #expect(result([120, 100, 90, 120, 110]).verdict == .pass)
    #expect(result([512, 500, 520, 508, 512]).verdict == .regression)
    let settling = result([512, 500, 520, 508, 512], .settling)
    #expect(settling.verdict == .inconclusive)
    #expect(settling.metrics.last?.reason == .riseWhileSettling)
    #expect(settling.metrics.last?.isUndecided == false)
  }

  @Test("Growth in another unit than the baseline's is not compared, and a note says so")
  func otherUnit() {
    let values: [MetricName: [Double]] = [.peakRSS: Given.values(10), .growth: Array(repeating: 900_000, count: 5)]
    let perSecond = measured(values).judged(against: .baseline(baseline(values)))
    #expect(perSecond.verdict == .pass)
    #expect(
      perSecond.notes.contains(
        .otherUnit(metric: .growth, baseline: Self.perIteration, current: "bytes/second")))
    let named = Gate(rules: [GateRule(metric: .growth, tolerance: .automatic)])
    var gated = measured(values)
    gated.gate = named
    let judged = gated.judged(against: .baseline(baseline(values)))
    #expect(judged.verdict == .inconclusive)
    #expect(judged.metrics.first?.reason == .otherUnit(baseline: Self.perIteration, current: "bytes/second"))
  }

  @Test("A tree that the baseline counted in another way is not compared, and a note says so")
  func otherTreeMethod() {
    let values: [MetricName: [Double]] = [.peakRSS: Given.values(10), .treePeak: Given.values(20)]
    var approved = baseline(values)
    approved.treeMethod = .cgroup
    var current = measured([.peakRSS: Given.values(10), .treePeak: Given.values(40)], processes: 2)
    for index in current.repetitions.indices { current.repetitions[index].treeMethod = .proportional }
    let judged = current.judged(against: .baseline(approved))
    #expect(judged.verdict == .pass && judged.metrics.map(\.rule.metric) == [.peakRSS])
    #expect(judged.notes.contains(.otherTreeMethod(metric: .treePeak, baseline: .cgroup, current: .proportional)))
    #expect(!judged.notes.contains { if case .ungatedRises = $0 { true } else { false } })
  }

  @Test("It is improved only if every metric was judged")
  func halfImproved() {
    let base = baseline([.peakRSS: Given.values(100, count: 10), .steadyRSS: Given.values(50)])
    let result = measured([.peakRSS: Given.values(80), .steadyRSS: Given.values(90)])
      .judged(against: .baseline(base))
    #expect(result.metrics.map(\.verdict) == [.improved])
    #expect(result.verdict == .pass)
    #expect(result.notes.contains(.baselineSeldomSteady(metric: .steadyRSS, count: 5, total: 10)))
    // Not judged, but its rise is told.
    let rise = Rise(
      metric: .steadyRSS, unit: "bytes", before: Given.values(50)[0], after: Given.values(90)[0])
    #expect(result.notes.contains(.ungatedRises(rises: [rise])))
  }

  @Test("It is improved also if a level was not judged that the peak is below", arguments: [(80.0, true), (95, false)])
  func belowLevel(peak: Double, isImproved: Bool) {
    let base = baseline([.peakRSS: Given.values(100, count: 10), .steadyRSS: Given.values(90)])
    let result = measured([.peakRSS: Given.values(peak), .steadyRSS: Given.values(peak - 5)])
      .judged(against: .baseline(base))
    #expect(result.metrics.map(\.verdict) == [.improved])
    #expect(result.verdict == (isImproved ? .improved : .pass))
    #expect(result.notes.contains(.baselineSeldomSteady(metric: .steadyRSS, count: 5, total: 10)))
  }

  @Test("A pass tells certain rises within the tolerance, and far rises of metrics without a rule")
  func rises() {
    let before: [MetricName: [Double]] = [
      .peakRSS: Given.values(20, count: 10), .steadyRSS: Given.values(18, count: 10),
      .spike: Given.values(1, count: 10),
    ]
    let after: [MetricName: [Double]] = [
      .peakRSS: Given.values(20.25), .steadyRSS: Given.values(18), .spike: Given.values(9),
    ]
    let result = measured(after).judged(against: .baseline(baseline(before)))
    #expect(result.verdict == .pass)
    func rise(_ metric: MetricName) -> Rise {
      Rise(metric: metric, unit: "bytes", before: before[metric]?.first ?? 0, after: after[metric]?.first ?? 0)
    }
    #expect(result.notes.contains(.risesWithinTolerance(rises: [rise(.peakRSS)])))
    #expect(result.notes.contains(.ungatedRises(rises: [rise(.spike)])))
    #expect(measured(before).judged(against: .baseline(baseline(before))).notes == [])
  }

  @Test("If less than half is steady by the narrow band, a baseline has only those levels; a check takes all")
  func nearlySteady() {
    var result = measured([.peakRSS: Given.values(10, count: 10), .steadyRSS: Given.values(9, count: 10)])
    for index in 0..<5 { result.repetitions[index].nearlySteady = [.steadyRSS] }
    #expect(Baseline(of: result.judged(against: .missing)).metrics[.steadyRSS]?.count == 10)
    result.repetitions[5].nearlySteady = [.steadyRSS]
    #expect(Baseline(of: result.judged(against: .missing)).metrics[.steadyRSS]?.count == 4)
    let base = baseline([.peakRSS: Given.values(10, count: 10), .steadyRSS: Given.values(9, count: 10)])
    #expect(result.judged(against: .baseline(base)).metrics.last?.current?.count == 10)
  }

  @Test("A note tells what has changed in the scenario since the baseline was measured")
  func scenario() {
    func definition(_ command: String) -> ScenarioDefinition {
      Scenario(name: ScenarioName("x"), target: Target(command: .shell(command), workingDirectory: "/")).definition
    }
    var result = measured([.peakRSS: Given.values(10), .steadyRSS: Given.values(9)])
    result.definition = definition("server --new")
    var base = Baseline(of: result.judged(against: .missing))
    #expect(result.judged(against: .baseline(base)).notes == [])
    base.definition = definition("server --old")
    #expect(
      result.judged(against: .baseline(base)).notes == [
        .otherScenario(keys: ["target"], baseline: "server --old", current: "server --new")
      ])
  }

  @Test("A note names the main program if it is not the baseline's")
  func program() {
    var result = measured([.peakRSS: Given.values(10), .steadyRSS: Given.values(9)])
    for index in result.repetitions.indices {
      result.repetitions[index].largestProcesses = [
        ProcessRecord(
          id: 7, parent: 1, command: "node", isMain: true, peak: .mebibytes(10), firstSeen: .zero, lastSeen: .zero)
      ]
    }
    var base = Baseline(of: result.judged(against: .missing))
    #expect(base.program == "node")
    #expect(result.judged(against: .baseline(base)).notes == [])
    base.program = "npm"
    #expect(result.judged(against: .baseline(base)).notes == [.otherProgram(baseline: "npm", current: "node")])
  }
}
