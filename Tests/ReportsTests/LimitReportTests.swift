import GateCore
import Testing

@testable import GateApplication

@Suite("The report of memory limits")
struct LimitReportTests {
  /// Survives with at least so many MiB, at its usual time with at least so many; `dies` is how it ends below.
  private static func study(
    _ name: String, need: Int64, fast: Int64 = 0, swap: MemoryLimiting.Swap = .none, most: Int = 100,
    dies: LimitedRun.Outcome = .killed(end: End(.oom, signal: .kill)),
    gap: Range<Int64> = 0..<0
  ) -> LimitStudy {
    let machine = MemoryLimiting(swap: swap, batches: .kibibytes(512), largest: .mebibytes(1024))
    let usual = LimitSearch.Usual(
      durations: [.milliseconds(480), .milliseconds(500)], treePeak: .mebibytes(60), peak: .kibibytes(75_400))
    var study = LimitStudy(ScenarioName(name), in: Fixture.environment, ownLimit: nil)
    var search = LimitSearch(usual: usual, on: machine)
    while search.runs.count < most, let level = search.next {
      let isSlow = level < .mebibytes(fast)
      let survives = level >= .mebibytes(need) && !gap.contains(level.count >> 20)
      search.add(
        LimitedRun(
          limit: level, outcome: survives ? .survived : dies,
          duration: isSlow ? .milliseconds(2400) : .milliseconds(510),
          usage: CgroupUsage(peak: level, limitHits: isSlow ? 4211 : 0, refaults: isSlow ? 20_960 : 0)))
    }
    (study.search, study.runCount, study.duration) = (search, search.runs.count + 4, .seconds(21))
    return study
  }

  private static var failed: LimitStudy {
    var study = LimitStudy(ScenarioName("crash"), in: Fixture.environment, ownLimit: nil)
    study.failure = Fixture.failure(of: End(.exited, code: 3), output: "no room\u{1b}\n")
    return study
  }

  private static let refused = LimitedRun.Outcome.failed(
    failure: Failure(
      problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: End(.exited, code: 1), output: "MemoryError\n"))

  private func text(_ studies: [LimitStudy], _ detail: SummaryContext.Detail = .normal) -> String {
    let result = LimitResult(run: Fixture.run, studies: studies)
    let context = SummaryContext(detail: detail, exitCode: result.verdict.exitCode)
    return LimitReport.text(result, style: TerminalStyle(), context: context)
  }

  @Test("Each outcome says what is known, from which runs, and what to write")
  func golden() throws {
    let studies = [
      Self.study("redis-load", need: 58, fast: 71, swap: .forbidden), Self.study("grep", need: 62, dies: Self.refused),
      Self.study("heap", need: 62, swap: .possible, dies: .stalled(within: .seconds(30)), gap: 76..<84),
      Self.study("greedy", need: 2000), Self.study("interrupted", need: 58, most: 2), Self.failed,
    ]
    try Golden.expect(text(studies), "limit.txt")
  }

  @Test("A quiet report has only the answers")
  func quiet() {
    #expect(
      text([Self.study("grep", need: 62)], .quiet) == "✓ grep  needs 62.4 MiB; full speed at that limit\n")
  }
}
