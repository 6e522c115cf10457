import FoundationEssentials
import GateCore

/// The second stage: runs the suspects without the other tests, alone, and after the tests before them, until it is clear
/// what rose.
struct SuspectStage {
  private var result: SuiteResult
  private let runner: SuiteRunner
  private let tolerance: SuiteTolerance
  /// The checkout of the commit to compare with, if that decides.
  private let other: String?
  private let invocation: Invocation
  /// The tests that make others need more, by name.
  private var blamed: [String: TestResult] = [:]
  /// When no further search begins.
  private let deadline: ContinuousClock.Instant

  init(
    _ result: SuiteResult, _ runner: SuiteRunner, _ tolerance: SuiteTolerance, against other: String?,
    _ invocation: Invocation
  ) {
    (self.result, self.runner, self.tolerance) = (result, runner, tolerance)
    (self.other, self.invocation) = (other, invocation)
    deadline = ContinuousClock.now + max(result.suiteTime * 4, .seconds(120))
  }

  private var hasTime: Bool { !invocation.isInterrupted && .now < deadline }

  /// A suspect with its place in the suite, and its runs without the tests before it.
  private struct Suspect {
    let index: Int
    let decision: SuspectDecision
    var alone: [TestFigures] = []

    var name: String { decision.suspect.test.name }
  }

  /// Decides the suspects; after an interruption, not all of them.
  mutating func run() throws -> SuiteResult {
    let begin = ContinuousClock.now
    let suspects = result.tests.indices.compactMap { index in
      SuspectDecision(result.tests[index], tolerance: tolerance).map { Suspect(index: index, decision: $0) }
    }
    let (risen, cleared) = try runAlone(suspects)
    let again = try runAgain(upTo: (other == nil ? risen : []) + cleared)
    var left = stillRisen(cleared, in: again)
    if other == nil {
      left = try clear(left, without: risen.map { result.tests[$0.index] } + result.tests.filter(\.isNew))
    }
    let firstUsers = try findCauses(of: left, shownBy: again)
    try decide(risen, by: again)
    if other == nil { try clearRisen(risen + firstUsers) }
    for (index, test) in result.tests.enumerated() {
      if let blame = blamed[test.test.name], test.verdict != .regression { result.tests[index] = blame }
    }
    let hasConfirmed = try confirmFalls()
    if hasConfirmed || !suspects.isEmpty { result.repeatTime = ContinuousClock.now - begin }
    return result
  }

  private func run(
    _ names: [String], loadingAll: Bool = true, of test: String? = nil, in checkout: String? = nil, number: Int = 1,
    of count: Int = 1
  ) throws -> SuiteRun? {
    guard !names.isEmpty, !invocation.isInterrupted else { return nil }
    let name = test.map { ScenarioName($0) } ?? result.name
    let purpose = Progress.Repetition(scenario: name, number: number, of: count, isComparison: checkout != nil)
    return try runner.run(names, loadingAll: loadingAll, in: checkout, purpose)
  }

  /// The names of the test at an index and of the one after it in its process.
  ///
  /// What several tests share, such as a fixture of a module, is taken down in the last of them: in a run that ended with
  /// this test, it would seem to keep that much less than in the suite.
  private func endingWith(_ index: Int) -> [String] {
    let process = result.tests[index].run.process
    let next = result.tests[(index + 1)...].first { $0.run.process == process }
    return [result.tests[index].test.name] + (next.map { [$0.test.name] } ?? [])
  }

  /// The name of the test before one in its process; none before the first.
  private func previous(_ index: Int) -> [String] {
    result.tests.before(result.tests[index]).suffix(1).map(\.test.name)
  }

  // MARK: Without the tests before them

  /// Tells the suspects apart that also need more without the tests before them.
  ///
  /// One run of all suspects together clears most of those that do not; the others run alone.
  private mutating func runAlone(_ suspects: [Suspect]) throws -> (risen: [Suspect], cleared: [Suspect]) {
    var (risen, cleared, uncertain): ([Suspect], [Suspect], [Suspect]) = ([], [], [])
    let others = suspects.dropLast().map(\.name)
    let together = try suspects.last.flatMap {
      try others.isEmpty ? nil : run(others + endingWith($0.index), loadingAll: false)
    }
    for suspect in suspects {
      guard let figures = together?.figures(of: suspect.name), !suspect.decision.showsRise(figures) else {
        uncertain.append(suspect)
        continue
      }
      cleared.append(Suspect(index: suspect.index, decision: suspect.decision, alone: [figures]))
    }
    uncertain.sort { ($1.decision.rise, $0.index) < ($0.decision.rise, $1.index) }
    for var suspect in uncertain.prefix(SuspectDecision.mostSuspects) where hasTime {
      suspect.alone = try runAlone(suspect)
      if suspect.alone.isEmpty {
        result.tests[suspect.index] = suspect.decision.notRunAlone
      } else if suspect.alone.allSatisfy(suspect.decision.explainsRise) {
        risen.append(suspect)
      } else {
        cleared.append(suspect)
      }
    }
    return (risen, cleared.sorted { $0.index < $1.index })
  }

  /// Runs a test alone, and then between its neighbours, since alone it may set up what tests share; to compare with another
  /// build only alone.
  ///
  /// - Returns: the figures; those of the first run that does not explain the rise are the only ones. Empty if it cannot be
  ///   run alone.
  private func runAlone(_ suspect: Suspect, in checkout: String? = nil) throws -> [TestFigures] {
    let neighbours = previous(suspect.index) + endingWith(suspect.index)
    var alone: [TestFigures] = []
    for number in 1...SuspectDecision.runs {
      let isAlone = number == 1 || other != nil
      // The first run loads no other files: it is quick, and clears most.
      let run = try run(
        isAlone ? [suspect.name] : neighbours, loadingAll: number > 1, of: suspect.name,
        in: checkout, number: number, of: SuspectDecision.runs)
      guard let figures = run?.figures(of: suspect.name) else { return [] }
      guard checkout != nil || suspect.decision.explainsRise(figures) else { return [figures] }
      alone.append(figures)
    }
    return alone
  }

  /// The tests that ran in the processes of these before the last of them.
  private func tests(beforeLastOf suspects: [Suspect]) -> (last: Int, tests: [TestResult])? {
    guard let last = suspects.map(\.index).max() else { return nil }
    let processes = Set(suspects.map { result.tests[$0.index].run.process })
    return (last, result.tests[..<last].filter { processes.contains($0.run.process) })
  }

  /// Runs the suspects again, after the tests that ran before them in their processes.
  private func runAgain(upTo suspects: [Suspect]) throws -> SuiteRun? {
    guard let (last, before) = tests(beforeLastOf: suspects) else { return nil }
    return try run(before.map(\.test.name) + endingWith(last))
  }

  // MARK: The tests that rose

  private mutating func decide(_ risen: [Suspect], by again: SuiteRun?) throws {
    for suspect in risen where !invocation.isInterrupted {
      let (index, decision) = (suspect.index, suspect.decision)
      if let other {
        result.tests[index] = decision.decided(alone: suspect.alone, before: try runAlone(suspect, in: other))
      } else if let figures = again?.figures(of: suspect.name) {
        decide(suspect, alone: suspect.alone, again: figures)
      }
    }
  }

  private mutating func decide(_ suspect: Suspect, alone: [TestFigures], again: TestFigures) {
    let moved = result.moved(before: result.tests[suspect.index])
    result.tests[suspect.index] = suspect.decision.decided(alone: alone, again: again, moved: moved)
  }

  /// Clears regressions because of other ones.
  ///
  /// A test may need as much alone for another reason: it then loads the modules that others have loaded in the suite.
  private mutating func clearRisen(_ risen: [Suspect]) throws {
    var suspects = risen.filter { result.tests[$0.index].verdict == .regression }.sorted { $0.index < $1.index }
    var changed = result.tests.filter { test in
      let isOther = test.isNew || test.verdict == .regression || blamed[test.test.name] != nil
      return isOther && !suspects.contains { $0.name == test.test.name }
    }
    // The first remaining suspect has no earlier one to blame, so those after it also run without it.
    for number in 1...Self.mostCauses where !suspects.isEmpty && (number == 1 || hasTime) {
      let added = number > 1 || changed.isEmpty ? result.tests[suspects.removeFirst().index] : nil
      changed += [added].compactMap(\.self)
      suspects = try clear(suspects, without: changed, since: added)
    }
  }

  /// Clears those that need no more than was approved if the changed tests before them do not run.
  ///
  /// `added` is the one without which they have not run before.
  ///
  /// - Returns: the others.
  private mutating func clear(
    _ suspects: [Suspect], without changed: [TestResult], since added: TestResult? = nil
  ) throws -> [Suspect] {
    guard let (last, before) = tests(beforeLastOf: suspects) else { return suspects }
    let omitted = Set(changed.map(\.test.name))
    let possible = added.map { [$0.test.name] } ?? omitted
    let causes = before.filter { possible.contains($0.test.name) }
    guard let cause = causes.first(where: { !$0.isNew }) ?? causes.first else { return suspects }
    let run = try run(before.map(\.test.name).filter { !omitted.contains($0) } + endingWith(last))
    return suspects.filter { suspect in
      guard let figures = run?.figures(of: suspect.name), !suspect.decision.showsRise(figures) else { return true }
      result.tests[suspect.index] = suspect.decision.cleared(alone: suspect.alone, cause: cause.test.name)
      return false
    }
  }

  /// Runs tests that needed less once more, where that is an equal run: what is approved must not be chance.
  ///
  /// - Returns: whether any ran.
  private mutating func confirmFalls() throws -> Bool {
    let fallen = runner.hasProcessesOfTests ? result.tests(with: .improved) : []
    guard let run = try run(fallen.map(\.test.name)) else { return false }
    for (index, test) in result.tests.enumerated() {
      guard let figures = run.figures(of: test.test.name) else { continue }
      result.tests[index] = test.withoutFall(by: figures, beyond: tolerance) ?? test
    }
    return true
  }

  // MARK: What tests do because of those before them

  /// More causes than these are one change of something else.
  private static let mostCauses = 3

  /// Those that need more in a second run of the suite as well; the others have passed.
  private mutating func stillRisen(_ cleared: [Suspect], in again: SuiteRun?) -> [Suspect] {
    guard let again else { return [] }
    return cleared.filter { suspect in
      guard let figures = again.figures(of: suspect.name),
        let passed = suspect.decision.passed(alone: suspect.alone, again: figures)
          ?? (shows(figures, suspect) ? nil : suspect.decision.notRepeated(alone: suspect.alone))
      else { return true }
      result.tests[suspect.index] = passed
      return false
    }
  }

  /// - Returns: those that have no other cause than what they are the first to use.
  private mutating func findCauses(of suspects: [Suspect], shownBy again: SuiteRun?) throws -> [Suspect] {
    var (left, firstUsers): ([Suspect], [Suspect]) = (suspects, [])
    var causes = 0
    while let first = left.first, causes < Self.mostCauses, hasTime {
      if let again, try decideFirstUser(first, by: again) {
        firstUsers.append(left.removeFirst())
        continue
      }
      let cause: TestResult
      switch try search(for: first) {
      case .cause(let test): cause = test
      case .chance(let figures):
        result.tests[first.index] = first.decision.varies(by: .spread(of: [figures]), alone: first.alone)
        left.removeFirst()
        continue
      case .unknown: return firstUsers
      }
      causes += 1
      blamed[cause.test.name] = first.decision.blamed(cause)
      let others = left.filter { result.tests[$0.index].run.process == cause.run.process }
      let last = endingWith(others.last?.index ?? first.index)
      let run = try run([cause.test.name] + others.dropLast().map(\.name) + last)
      for suspect in others {
        guard suspect.index == first.index || run.map({ isShown(suspect, in: $0) }) == true else { continue }
        result.tests[suspect.index] = suspect.decision.cleared(alone: suspect.alone, cause: cause.test.name)
        left.removeAll { $0.index == suspect.index }
      }
    }
    return firstUsers
  }

  /// Decides a test that keeps more in something that it is the first to need and others need after it; false if it is not
  /// one.
  ///
  /// Alone it takes that down again, and seems to keep less. So the test after it runs as well, and then one before it, which
  /// sets up what it shares with that one.
  private mutating func decideFirstUser(_ suspect: Suspect, by again: SuiteRun) throws -> Bool {
    let names = endingWith(suspect.index)
    guard suspect.decision.metric != .peak, names.count > 1, let figures = again.figures(of: suspect.name) else {
      return false
    }
    let before = previous(suspect.index)
    var alone: [TestFigures] = []
    for start in before.isEmpty ? [[]] : [[], before] {
      let run = try run(start + names, of: suspect.name)
      guard let figures = run?.figures(of: suspect.name), suspect.decision.explainsRise(figures) else { return false }
      alone.append(figures)
    }
    decide(suspect, alone: alone, again: figures)
    return true
  }

  private func shows(_ figures: TestFigures, _ suspect: Suspect) -> Bool {
    suspect.decision.showsRise(figures) && suspect.decision.showsOthers(figures, alone: suspect.alone)
  }

  private enum Finding {
    /// The test because of which another one needs more in the suite than alone.
    case cause(TestResult)
    /// Runs after the same tests differ by as much, as these figures do.
    case chance([TestFigures])
    case unknown
  }

  private func search(for suspect: Suspect) throws -> Finding {
    let before = result.tests.before(result.tests[suspect.index])
    var search = CauseSearch(before: before.map(\.test.name))
    var seen: [Int: TestFigures] = [:]
    while let names = search.next {
      guard hasTime, let run = try run(after: names, suspect) else { return .unknown }
      seen[names.count] = run.figures(of: suspect.name)
      search.add(needsMore: isShown(suspect, in: run))
    }
    guard let place = before.firstIndex(where: { $0.test.name == search.cause }) else {
      return seen[before.count].map { .chance([suspect.decision.inSuite, $0]) } ?? .unknown
    }
    // Chance may have led the search.
    for start in [place + 1, place] {
      let run = try run(after: before[start...].map(\.test.name), suspect)
      guard let run, let figures = run.figures(of: suspect.name) else { return .unknown }
      guard shows(figures, suspect) != (start == place) else { continue }
      return seen[before.count - start].map { .chance([$0, figures]) } ?? .unknown
    }
    return .cause(try firstUser(like: before[place], for: suspect))
  }

  /// Of the tests of a file after each of which another one needs more, the first: what a fixture does belongs to it.
  private func firstUser(like cause: TestResult, for suspect: Suspect) throws -> TestResult {
    let users = result.tests.before(cause).filter { $0.test.file != nil && $0.test.file == cause.test.file }
    guard try !users.isEmpty && needsMore(suspect, after: users) else { return cause }
    var (least, most) = (1, users.count)
    while least < most {
      let middle = (least + most) / 2
      let needsMore = try needsMore(suspect, after: Array(users.prefix(middle)))
      if needsMore { most = middle } else { least = middle + 1 }
    }
    return users[most - 1]
  }

  private func needsMore(_ suspect: Suspect, after tests: [TestResult]) throws -> Bool {
    try run(after: tests.map(\.test.name), suspect).map { isShown(suspect, in: $0) } ?? false
  }

  /// nil after an interruption.
  private func run(after names: [String], _ suspect: Suspect) throws -> SuiteRun? {
    try run(names + endingWith(suspect.index), of: suspect.name)
  }

  /// Whether a run shows that a test needs more because of those before it.
  private func isShown(_ suspect: Suspect, in run: SuiteRun) -> Bool {
    run.figures(of: suspect.name).map { shows($0, suspect) } ?? false
  }
}
