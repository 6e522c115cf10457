import GateCore
import Testing

@Suite("Metrics of kinds of memory")
struct KindMetricTests {
  private func recording(judging rules: String...) throws -> Recording {
    var recording = Curves.recording({ _ in 20 * Curves.mebibyte })
    for index in recording.samples.indices {
      recording.samples[index].main?.anonymous = .mebibytes(index == 3 ? 17 : 15)
      let time = recording.samples[index].time
      recording.kindReadings.append(
        KindReading(time: time, program: [.pss: index == 3 ? 900 : 800], tree: [.pss: index == 3 ? 1900 : 1800]))
    }
    recording.kinds = try rules.map { try #require(KindMetric(MetricName($0))) }
    return recording
  }

  @Test("The peak is the highest reading, and the level that after warm-up, of the program and of the tree")
  func values() throws {
    let metrics = try recording(
      judging: "peak_anonymous", "steady_anonymous", "peak_pss", "steady_pss", "tree_peak_pss", "tree_steady_pss"
    ).result().metrics
    #expect(metrics[MetricName("peak_anonymous")] == 17 * Curves.mebibyte)
    #expect(metrics[MetricName("steady_anonymous")] == 15 * Curves.mebibyte)
    #expect(metrics[MetricName("peak_pss")] == 900 && metrics[MetricName("steady_pss")] == 800)
    #expect(metrics[MetricName("tree_peak_pss")] == 1900 && metrics[MetricName("tree_steady_pss")] == 1800)
  }

  @Test("Only what a gate judges is measured, and what the kernel did not show is missing")
  func onlyJudged() throws {
    let metrics = try recording(judging: "peak_swap").result().metrics
    #expect(metrics.keys.allSatisfy { KindMetric($0) == nil })
    let off = Gate(rules: [
      GateRule(metric: MetricName("peak_pss"), tolerance: .automatic, severity: .off),
      GateRule(metric: MetricName("tree_peak_file"), tolerance: .automatic),
    ])
    #expect(off.kinds.map(\.name.text) == ["tree_peak_file"])
  }

  @Test("Each kind has four names, which are parsed; a phase has none")
  func names() {
    for metric in KindMetric.allCases { #expect(MetricName(parsing: metric.name.text)?.row == metric.row) }
    #expect(KindMetric.allCases.count == 4 * MemoryKind.allCases.count)
    #expect(MetricName("tree_steady_pss").isOfTree && MetricName("peak_swap").kind == .peak)
    #expect(MetricName(parsing: "phase.load.peak_pss") == nil && MetricName(parsing: "peak_stack") == nil)
  }
}
