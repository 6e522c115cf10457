import FoundationEssentials
import GateCore

/// The second stage: runs the suspects alone, and after the tests before them, until it is clear what rose.
struct SuspectStage {
  private var result: SuiteResult
  private let runner: SuiteRunner
  private let tolerance: SuiteTolerance
  private let invocation: Invocation

  init(_ result: SuiteResult, _ runner: SuiteRunner, _ tolerance: SuiteTolerance, _ invocation: Invocation) {
    (self.result, self.runner, self.tolerance, self.invocation) = (result, runner, tolerance, invocation)
  }

  private typealias Suspect = (index: Int, decision: SuspectDecision)

  /// Decides the suspects with the largest rises; after an interruption, not all of them.
  mutating func run(against other: CommitBuild?) throws -> SuiteResult {
    let begin = ContinuousClock.now
    let suspects = result.tests.indices
      .compactMap { index in
        SuspectDecision(result.tests[index], tolerance: tolerance).map { (index: index, decision: $0) }
      }
      .sorted { ($1.decision.rise, $0.index) < ($0.decision.rise, $1.index) }
      .prefix(SuspectDecision.mostSuspects)
    var blamed: [String: TestResult] = [:]
    var showing: [(suspect: Suspect, alone: [TestFigures])] = []
    for suspect in suspects where !invocation.isInterrupted {
      let alone = try runAlone(suspect.decision, in: nil)
      if alone.isEmpty {
        result.tests[suspect.index] = suspect.decision.notRunAlone
      } else if alone.allSatisfy(suspect.decision.showsRise) {
        showing.append((suspect, alone))
      } else {
        let cause = try cause(of: suspect, alone)
        result.tests[suspect.index] = suspect.decision.cleared(alone: alone, cause: cause?.test.name)
        if let cause { blamed[cause.test.name] = suspect.decision.blamed(cause) }
      }
    }
    try decide(showing, against: other)
    for (index, test) in result.tests.enumerated() {
      if let blame = blamed[test.test.name], test.verdict != .regression { result.tests[index] = blame }
    }
    result.repeatTime = ContinuousClock.now - begin
    return result
  }

  /// Decides the suspects that need more alone than was approved for the suite.
  private mutating func decide(
    _ showing: [(suspect: Suspect, alone: [TestFigures])], against other: CommitBuild?
  ) throws {
    if let other {
      for (suspect, alone) in showing where !invocation.isInterrupted {
        let before = try runAlone(suspect.decision, in: other)
        result.tests[suspect.index] = suspect.decision.decided(alone: alone, before: before)
      }
      return
    }
    guard let again = try runAgain(upTo: showing.map(\.suspect.index)) else { return }
    for (suspect, alone) in showing {
      let test = result.tests[suspect.index]
      guard let figures = again.figures(of: test.test.name) else { continue }
      result.tests[suspect.index] = suspect.decision.decided(
        alone: alone, again: figures, moved: result.moved(before: test))
    }
  }

  /// Runs a test alone until a run does not show the rise; empty if it cannot be run alone.
  private func runAlone(_ decision: SuspectDecision, in checkout: CommitBuild?) throws -> [TestFigures] {
    let name = decision.suspect.test.name
    var alone: [TestFigures] = []
    for number in 1...SuspectDecision.runs {
      let purpose = Progress.Repetition(
        scenario: ScenarioName(name), number: number, of: SuspectDecision.runs, isComparison: checkout != nil)
      guard let figures = try runner.run([name], in: checkout, purpose)?.figures(of: name) else { return [] }
      alone.append(figures)
      if checkout == nil, !decision.showsRise(figures) { break }
    }
    return alone
  }

  /// The test because of which another one needs more in the suite than alone; nil if no run shows it again.
  private func cause(of suspect: Suspect, _ alone: [TestFigures]) throws -> TestResult? {
    let test = result.tests[suspect.index]
    let before = result.tests.before(test)
    var search = CauseSearch(before: before.map(\.test.name))
    var number = 1
    while let names = search.next, !invocation.isInterrupted {
      let purpose = Progress.Repetition(scenario: ScenarioName(test.test.name), number: number, of: number)
      let figures = try runner.run(names + [test.test.name], purpose)?.figures(of: test.test.name)
      search.add(needsMore: figures.map { suspect.decision.showsOthers($0, alone: alone) } ?? false)
      number += 1
    }
    return search.cause.flatMap { cause in before.first { $0.test.name == cause } }
  }

  /// Runs the suspects again, after the tests that ran before them in their processes; nil if there are none.
  private func runAgain(upTo suspects: [Int]) throws -> SuiteRun? {
    guard let last = suspects.max() else { return nil }
    let processes = Set(suspects.map { result.tests[$0].run.process })
    let names = result.tests[...last].filter { processes.contains($0.run.process) }.map(\.test.name)
    return try runner.run(names, Progress.Repetition(scenario: result.name, number: 2, of: 2))
  }
}
