import GateCore

/// How to search.
struct BisectOptions: Sendable, Equatable {
  /// The shell command that builds a commit; nil for that of the project file.
  var build: String?
  /// Overrides the scenarios' repetitions.
  var repetitions: Int?
  /// The only metric to search; nil for the one that rose most clearly.
  var metric: MetricName?
  var depth = RiseSearch.Depth.largestStep
  /// Whether the answers of an earlier run are forgotten.
  var restarts = false
}

/// Builds the commits that the searches of scenarios ask for, and measures each with all scenarios that ask for it.
struct BisectRun {
  private let options: BisectOptions
  private let scenarios: [Scenario]
  private let range: CommitRange
  private let project: Project
  private let artifacts: ArtifactsFolder
  private let invocation: Invocation
  private var builds: BisectBuilds
  private var searches: [ScenarioSearch] = []

  init(
    _ options: BisectOptions,
    with scenarios: [Scenario],
    in range: CommitRange,
    of project: Project,
    artifacts: ArtifactsFolder,
    invocation: Invocation
  ) {
    (self.options, self.scenarios, self.range, self.project) = (options, scenarios, range, project)
    self.artifacts = ArtifactsFolder(path: "\(artifacts.path)/bisect")
    self.invocation = invocation
    builds = BisectBuilds(
      of: range, in: project.root, with: options.build, log: artifacts.buildLog, invocation)
  }

  /// The answers so far, of all scenarios.
  var answerCount: Int { searches.map(\.answerCount).reduce(0, +) }

  /// Searches to the end; false after an interruption.
  mutating func search() throws -> Bool {
    let whole = 0...range.commits.count - 1
    let part = options.restarts ? narrowed : stored ?? narrowed
    begin(in: part ?? whole)
    guard try measureCommits() else { return false }
    guard let part, part != whole, searches.contains(where: \.lacksRise) else { return true }
    invocation.console.note(BisectProgress.notInHistory)
    begin(in: whole)
    return try measureCommits()
  }

  func result(of run: RunInfo) -> BisectResult {
    BisectResult(
      run: run, good: range.good, bad: range.bad, build: options.build, commitCount: range.commits.count - 1,
      builds: builds.count, scenarios: searches.map(found))
  }

  // MARK: Ranges

  /// The part of an unfinished search; nil if there is none, or the scenarios have different ones.
  private var stored: ClosedRange<Int>? {
    let parts = scenarios.map { scenario in
      ScenarioSearch.stored(in: stateFile(of: scenario)).flatMap { range.part(from: $0.good, to: $0.bad) }
    }
    return Set(parts).count == 1 ? parts[0] : nil
  }

  /// The part in which the history shows the steps of all scenarios; nil if it does not.
  private var narrowed: ClosedRange<Int>? {
    let history = HistoryRange(of: project, commits: range.commits, metric: options.metric, in: invocation)
    let parts = scenarios.map { history?.step(of: $0, in: environment(of: $0)) }
    let known = parts.compactMap(\.self)
    guard known.count == scenarios.count, let lower = known.map(\.lowerBound).min(),
      let upper = known.map(\.upperBound).max(), upper - lower < range.commits.count - 1
    else { return nil }
    return lower...upper
  }

  private mutating func begin(in part: ClosedRange<Int>) {
    let isWhole = part.count == range.commits.count
    if !isWhole {
      invocation.console.note(BisectProgress.narrowed(to: part.count - 1, from: range.commits.count - 1))
    }
    searches = scenarios.map { scenario in
      let plan = (options.repetitions.map(Repetitions.fixed) ?? scenario.repetitions).plan
      return ScenarioSearch(
        of: scenario, in: environment(of: scenario), commits: Array(range.commits[part]),
        narrowedFrom: isWhole ? nil : range.commits.count - 1,
        bisection: Bisection(last: part.count - 1, plan: plan, depth: options.depth, metric: options.metric),
        stateFile: stateFile(of: scenario), restarts: options.restarts)
    }
    if answerCount > 0 { invocation.console.note(BisectProgress.resumed(answerCount)) }
  }

  private func environment(of scenario: Scenario) -> EnvironmentInfo {
    project.environment.environment(of: scenario, on: invocation.measurer)
  }

  /// Answers are valid for the same ends, build, scenario and environment.
  private func stateFile(of scenario: Scenario) -> String {
    let environment = environment(of: scenario)
    let definition = scenario.definition.hashes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let repetitions = options.repetitions.map { "\($0)" } ?? "\(scenario.repetitions)"
    let parts = [range.good.commit, range.bad.commit, options.build ?? "", scenario.name.text, environment.name]
    let key = StableHash.hexadecimal(of: (parts + definition + [repetitions]).joined(separator: "\0"))
    return "\(range.gitFolder)/highwater/bisect/\(key).json"
  }

  // MARK: Commits

  private mutating func measureCommits() throws -> Bool {
    while let index = mostWanted {
      guard try builds.prepareGood(searches[0].commits[0], named: range.good.revision), try measure(index)
      else { return false }
    }
    return true
  }

  /// The commit that most scenarios ask for; of several, that of the first scenario.
  private var mostWanted: Int? {
    let wanted = searches.compactMap(\.next)
    return wanted.max { one, other in
      wanted.count { $0 == one } < wanted.count { $0 == other }
    }
  }

  private mutating func measure(_ index: Int) throws -> Bool {
    let commit = searches[0].commits[index]
    show(index)
    let outcome = try builds.outcome(of: commit, named: index == searches[0].bisection.last ? range.bad.revision : nil)
    for number in searches.indices where searches[number].next == index {
      switch outcome {
      case .interrupted: return false
      case .failed(let failure): try searches[number].record(.notBuilt(failure: failure), at: index)
      case .built:
        guard try searches[number].measure(index, in: builds, into: artifacts, invocation) else { return false }
      }
      say(index, searches[number])
    }
    return true
  }

  // MARK: Messages

  private func show(_ index: Int) {
    let commit = searches[0].commits[index]
    // Scenarios that need the same commit next share its build.
    let sharing = Dictionary(grouping: searches.filter { $0.next != nil }, by: \.next).values
    let left = sharing.reduce(0) { sum, group in sum + (group.map(\.bisection.remaining).max() ?? 0) }
    invocation.console.say(
      BisectProgress.started(
        commit, GitQuery.subject(of: commit, in: project.root), number: index, of: searches[0].bisection.last,
        buildsLeft: left))
  }

  private func say(_ index: Int, _ search: ScenarioSearch) {
    invocation.console.endProgress()
    let name = searches.count > 1 ? search.scenario.name : nil
    invocation.console.say(BisectProgress.answer(at: index, of: search.bisection, scenario: name))
  }

  // MARK: The answer

  private func found(_ search: ScenarioSearch) -> ScenarioBisection {
    var found = ScenarioBisection(
      name: search.scenario.name, environment: search.environment, bisection: search.bisection,
      outcome: search.bisection.outcome ?? .failed, commits: search.commits, narrowedFrom: search.narrowedFrom)
    if let failure = search.failure { (found.failure, found.outcome) = (failure, .failed) }
    let named = found.bisection.steps.flatMap { $0.lower...$0.upper } + [0, found.bisection.last]
    for commit in Set(named.prefix(Self.mostNamed).map { search.commits[$0] }) {
      found.details[commit] = GitQuery.info(of: commit, in: project.root)
    }
    if let step = found.bisection.steps.first, step.isCommit { found.mergeBase = mergeBase(of: found.info(step.upper)) }
    return found
  }

  /// A range of more commits is not listed one by one.
  private static let mostNamed = 100

  /// The commit from which a merged branch started; nil if it is no merge.
  private func mergeBase(of commit: CommitInfo) -> String? {
    guard commit.parents.count == 2 else { return nil }
    return GitQuery.mergeBase(of: commit.parents[0], commit.parents[1], in: project.root)
  }
}

extension ScenarioSearch {
  /// Whether its ends have the same level, so that the rise lies elsewhere.
  fileprivate var lacksRise: Bool {
    switch bisection.outcome {
    case .same, .lower, .undecided, .nothingMeasured: true
    default: failure != nil
    }
  }
}
