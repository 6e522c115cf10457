import FoundationEssentials
import GateCore
import Testing

@Suite("The table of metrics")
struct MetricTableTests {
  @Test("A name is parsed to its row, and the order of the table is that of reports")
  func names() {
    #expect(
      MetricName.wholeRun.map(\.text)
        == ["peak_rss", "steady_rss", "growth", "spike", "retained", "fault_rate", "tree_peak", "tree_steady"])
    for metric in WholeRunMetric.allCases { #expect(MetricName(parsing: metric.rawValue)?.row == metric.row) }
    #expect(MetricName.limit.row == nil && MetricName.value("growth").row == nil)
    #expect(MetricName.wholeRun.reversed().sorted(by: MetricName.isListedBefore) == MetricName.wholeRun)
  }

  @Test("A phase has exactly the metrics of which the table says so")
  func phases() {
    let marks = ["a", "b"].enumerated().map { Mark(time: .seconds(2 * $0), event: .phase($1), resident: .mebibytes(5)) }
    let result = Curves.recording({ _ in 20 * Curves.mebibyte }, marks: marks).result()
    for phase in result.phases { #expect(Set(phase.metrics.keys) == Set(MetricName.perPhase)) }
    #expect(MetricName.phase("a", .steadyRSS).kind == .steadyLevel)
    #expect(!MetricName.phase("a", .peakRSS).isOfTree)
  }

  @Test("A steady recording with page faults has every metric of the whole run")
  func values() {
    let load = Mark(time: .zero, event: .phase("load"), resident: .mebibytes(20))
    var recording = Curves.recording({ _ in 20 * Curves.mebibyte }, marks: [load])
    for index in recording.samples.indices {
      recording.samples[index].activity = Activity(minorFaults: Int64(index), cpuTime: .zero)
    }
    #expect(Set(recording.result().metrics.keys) == Set(MetricName.wholeRun))
  }

  @Test("The default gate judges levels first, then growth; without the tree if the main process is named")
  func standardGate() {
    #expect(
      Gate.standard.rules.map(\.metric.text) == ["peak_rss", "steady_rss", "tree_peak", "tree_steady", "growth"])
    #expect(Gate.standard(ofTree: false).rules.map(\.metric.text) == ["peak_rss", "steady_rss", "growth"])
  }

  @Test("A rise that is explained has the name of the metric that it explains")
  func explained() {
    for rise in ExplainedRise.allCases { #expect(MetricName(rise.rawValue).row?.explained == rise) }
    #expect(ExplainedRise(of: [.treeSteady, .growth]) == .steady)
    #expect(ExplainedRise(of: [.spike, .steadyRSS]) == .peak)
    #expect(ExplainedRise(of: [.phase("load", .steadyRSS)]) == .peak)
    #expect(ExplainedRise(of: [.faultRate, .limit, .value("entries")]) == nil)
  }

  @Test("The tree's counterpart of a metric is of the same kind")
  func counterparts() throws {
    for metric in WholeRunMetric.allCases {
      guard let tree = metric.row.ofTree else { continue }
      #expect(tree.row.kind == metric.row.kind && tree.row.scope == .tree && metric.row.scope == .program)
    }
    #expect(WholeRunMetric.allCases.compactMap(\.row.ofTree) == [.treePeak, .treeSteady])
  }

  @Test("The pages have columns for the headlines: the peak and the steady level")
  func headlines() {
    #expect(MetricName.headlines == [.peakRSS, .steadyRSS])
  }

  @Test(
    "A metric of the gate that most repetitions lack is inconclusive, with the reason that fits it",
    arguments: [
      (.peakRSS, .tooFewReadings), (.treePeak, .tooFewReadings), (.faultRate, .tooFewReadings),
      (.steadyRSS, .neverSteady(steadiness: .drifting)), (.treeSteady, .neverSteady(steadiness: .drifting)),
      (.spike, .neverSteady(steadiness: .drifting)), (.retained, .noLoad),
      (.growth, .neverSteady(steadiness: .drifting)),
    ] as [(WholeRunMetric, Unavailability)])
  func reason(metric: WholeRunMetric, cause: Unavailability) {
    let gate = Gate(rules: [GateRule(metric: metric.name, tolerance: .automatic)])
    var measured = Given.measurements([.value("entries"): [1, 1, 1]], gate: gate)
    for index in measured.repetitions.indices { measured.repetitions[index].steadiness = .drifting }
    let judged = measured.judged(against: .baseline(Given.baseline([metric.name: [1, 1, 1]])))
    #expect(judged.metrics.first?.reason == .unavailable(cause: cause))
    #expect(judged.verdict == .inconclusive)
  }

  @Test("Each metric of the table has a test of its reason")
  func reasons() {
    #expect(WholeRunMetric.allCases.count == 8, "add the new metric to the arguments of `reason`")
  }
}

@Suite("Negative values in approved changes")
struct NegativeValueTests {
  @Test("A reported value that is negative moves like any other; memory stays at zero or above")
  func expected() {
    let balance = MetricName.value("balance")
    let baseline = Given.baseline([balance: [-5, -5, -5], .peakRSS: [4096, 4096, 4096], .growth: [-1, -1, -1]])
    let moves = [balance, .peakRSS, .growth].map { ($0, BaselineChange.Move(from: 0, to: -8192)) }
    let approval = Approval(at: Date(timeIntervalSince1970: 0), by: "ann", commit: nil, reason: nil, run: "1")
    let change = BaselineChange(
      scenario: baseline.scenario, environment: baseline.environment, moves: Dictionary(uniqueKeysWithValues: moves),
      repetitions: 3, approval: approval)
    let metrics = baseline.expecting([change]).metrics
    #expect(metrics[balance] == [-8197, -8197, -8197])
    #expect(metrics[.peakRSS] == [0, 0, 0])
    #expect(metrics[.growth] == [-8193, -8193, -8193])
  }
}
