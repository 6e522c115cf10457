import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("The report of a bisection")
struct BisectReportTests {
  private static let base = 24.0 * 1_048_576
  private static let failure = Failure(
    part: .init(.step, at: [.step(number: 1, of: 1)], text: "run: ping"), problem: .signalNotSent)

  /// Searches levels in percent above 24 MiB, one for each commit from the good end on; nil for one that does not build.
  private static func scenario(
    _ name: String,
    _ levels: [Double?],
    noise: Double = 0,
    depth: RiseSearch.Depth = .largestStep,
    parents: Int = 1,
    configure: (inout ScenarioBisection) -> Void = { _ in }
  ) -> ScenarioBisection {
    var bisection = Bisection(last: levels.count - 1, plan: RepetitionPlan(min: 5, max: 5), depth: depth)
    func values(_ percent: Double) -> [Double] { [0, -1, 1, 2, -2].map { base * (1 + (percent + $0 * noise) / 100) } }
    while let next = bisection.next {
      guard let level = levels[next] else {
        bisection.record(.notBuilt(failure: failure), at: next)
        continue
      }
      let (own, good) = (values(level), values(0))
      bisection.record(
        .measured(
          values: MeasuredCommit(
            repetitions: 5, values: [.peakRSS: own, .steadyRSS: own], reference: [.peakRSS: good, .steadyRSS: good])),
        at: next)
    }
    let commits = levels.indices.map { "\($0)000000000000" }
    var found = ScenarioBisection(
      name: ScenarioName(name), environment: Fixture.environment, bisection: bisection,
      outcome: bisection.outcome ?? .failed, commits: commits)
    for (index, commit) in commits.enumerated() {
      found.details[commit] = CommitInfo(
        commit: commit, subject: "Change \(index) \u{1b}[31m of a cache", author: "Ada Lovelace",
        date: Date(timeIntervalSince1970: 1_767_225_600), parents: Array(repeating: "5a5a5a5a5a5a", count: parents))
    }
    configure(&found)
    return found
  }

  private static let scenarios = [
    scenario("one", [0, 0, 10, 10, 10]),
    scenario("merge", [0, 0, 10], parents: 2) { $0.mergeBase = "b0b0b0b0b0b0" },
    scenario("largest", [0, 6, 6, 6, 10]),
    scenario("all", [0, 6, 6, 6, 10], depth: .allSteps),
    scenario("creep", (0...16).map { Double($0) }),
    scenario("range", [0, nil, nil, 10]) { $0.narrowedFrom = 200 },
    scenario("same", [0, 0, 0]),
    scenario("lower", [0, 0, -10]),
    scenario("undecided", [0, 0, 1], noise: 2),
    scenario("noisy", [0, nil, nil, 3], noise: 0.2) { $0.outcome = .noisy },
    scenario("fails", [0, 10]) {
      ($0.outcome, $0.bisection) = (.failed, Bisection(last: 1, plan: RepetitionPlan(min: 5, max: 5)))
      $0.failure = .init(isOfGood: true, failure)
    },
  ]

  private func text(_ scenarios: [ScenarioBisection], _ detail: SummaryContext.Detail = .normal) -> String {
    var run = Fixture.run
    run.duration = .seconds(754)
    let result = BisectResult(
      run: run, good: .init(revision: "v1.4", commit: "0000000000000"),
      bad: .init(revision: "HEAD", commit: "4000000000000"), build: "make -j4", commitCount: 4, builds: 5,
      scenarios: scenarios)
    let context = SummaryContext(detail: detail, exitCode: result.exitCode)
    return BisectReport.text(result, style: TerminalStyle(), context: context)
  }

  @Test("Each outcome says what was found, in which figures, and what to do")
  func golden() throws {
    let text = text(Self.scenarios)
    try Golden.expect(text, "bisect.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    try Golden.expect(self.text([Self.scenarios[0], Self.scenarios[5]], .verbose), "bisect-verbose.txt")
  }

  @Test("The exit code is that of the first outcome in the order of the contract")
  func exitCodes() {
    func verdict(_ names: String...) -> Substring? {
      text(Self.scenarios.filter { names.contains($0.name.text) }).split(separator: "\n").last
    }
    #expect(verdict("one", "creep", "range") == "highwater: pass")
    #expect(verdict("one", "same") == "highwater: inconclusive")
    #expect(verdict("same", "fails") == "highwater: failed")
  }

  @Test("A line for each commit fits a terminal")
  func progress() {
    let line = BisectProgress.started(
      "4f2a91c0d0000", String(repeating: "long ", count: 40), number: 104, of: 200, buildsLeft: 7)
    #expect(line.hasPrefix("4f2a91c0d  commit 104 of 200, about 7 builds left  long long") && line.count < 80)
    let bisection = Self.scenarios[0].bisection
    #expect(
      BisectProgress.answer(at: 4, of: bisection, scenario: nil)
        == "  the ends differ: peak_rss 24.0 MiB to 26.4 MiB (+10.0 %)")
    #expect(
      BisectProgress.answer(at: 2, of: bisection, scenario: ScenarioName("one"))
        == "  one: like the bad end: +2.4 MiB of +2.4 MiB")
  }
}
