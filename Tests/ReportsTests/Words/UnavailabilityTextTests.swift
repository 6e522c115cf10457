import GateCore
import Testing

@testable import GateApplication

@Suite("Why a metric is unavailable")
struct UnavailabilityTextTests {
  private static let load = MetricName.phase("lod", .peakRSS)
  private static let entries = MetricName.value("cache.entires")

  @Test(
    "The text names the cause, what there was instead, and the remedy",
    arguments: [
      (load, .noPhaseStarted, "no phase was started"),
      (
        load, .phaseNotStarted(started: ReportedNames(["load", "serve"], missing: "lod")),
        "the phase `lod` was never started, only `load`, `serve`; did you mean `load`?"
      ),
      (load, .phaseSeldomStarted(in: 2, of: 5), "the phase was started in only 2 of 5 repetitions"),
      (
        load, .phaseSeldomRead(in: 0, of: 5),
        "memory was read during the phase in no repetition; a longer phase may help"
      ),
      (
        .phase("lod", .steadyRSS), .phaseSeldomSteady(in: 2, of: 5),
        "resident memory became steady during the phase in only 2 of 5 repetitions; a longer phase may help"
      ),
      (
        entries, .otherValuesReported(reported: ReportedNames(["cache.entries", "hits"], missing: "cache.entires")),
        "the target did not report `cache.entires`, only `cache.entries`, `hits`; did you mean `cache.entries`?"
      ),
      (
        entries, .otherValuesReported(reported: ReportedNames(Set((0...9).map { "v\($0)" }), missing: "cache.entires")),
        "the target did not report `cache.entires`, only `v0`, `v1`, `v2`, `v3`, `v4`, `v5`, `v6`, `v7` and 2 others"
      ),
      (
        .instances(of: "Nod"), .noInstances(others: ReportedNames(["Node"], missing: "Nod")),
        "no instance of `Nod` was allocated; there were instances of `Node`; did you mean `Node`?"
      ),
      (
        .instances(of: "Nod"), .noInstances(others: ReportedNames([], missing: "Nod")),
        "no instance of `Nod` was allocated"
      ),
      (.instances(of: "Nod"), .instancesNotCounted(refusal: nil), "only `check` counts instances"),
    ] as [(MetricName, Unavailability, String)])
  func text(metric: MetricName, cause: Unavailability, text: String) {
    #expect(TerminalText.withPlainSpaces(cause.text(for: metric)) == text)
  }
}
