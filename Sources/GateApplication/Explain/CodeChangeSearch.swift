import GateCore

/// Joins what explains the rises of a check with what changed in the checkout.
///
/// It never changes a verdict: what git does not answer in time is left out.
struct CodeChangeSearch {
  /// How long all scenarios may take together; a single git command has its own limit.
  private static let mostTime = Duration.seconds(20)
  /// More functions are not reported.
  private static let mostFunctions = 3
  /// The text of more files is not read for one scenario.
  private static let mostFiles = 50

  private let root: String
  private let baselines: BaselineStore
  private let measured: MeasuredCode?
  private let ci: CIVariables
  /// The commit in which the change under test left its target; nil for another build.
  private lazy var branchBase: String? =
    ci.targets.isEmpty ? nil : GitQuery.base(ofChange: ci.commit, since: ci.targets, in: root)
  /// Folders of no concern.
  private let ignored: [String]
  private let folders: [ScenarioName: [String]]
  private let deadline: ContinuousClock.Instant
  private var comparisons: [String: GitComparison?] = [:]
  /// What could not be answered.
  private(set) var notes: [RunNote] = []

  init(of project: Project, _ measured: MeasuredCode?, in invocation: Invocation) {
    (root, self.measured, ci) = (project.root, measured, invocation.ci)
    baselines = BaselineStore(folder: project.baselines)
    // The report says separately that a scenario's definition changed.
    let file = PathText.absolute(project.file, from: invocation.workingDirectory)
    ignored = [project.baselines, project.artifacts, file]
    let pairs = project.scenarios.map { ($0.name, [$0.target.workingDirectory, $0.root]) }
    folders = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    deadline = .now + Self.mostTime
  }

  /// The changes behind the rise of an explained scenario, or else those that are known already.
  ///
  /// `reference` is the commit that the check compared with instead of the baselines, if any.
  mutating func changes(behind scenario: ScenarioResult, comparedWith reference: String?) -> CodeChanges? {
    guard deadline > .now, let explanation = scenario.explanation else { return scenario.explanation?.changes }
    let finding = explanation.finding
    guard Self.canSearch(finding) else { return explanation.changes }
    let bases = bases(of: scenario, comparedWith: reference)
    let known = bases.compactMap { base in comparison(with: base.commit).map { KnownBase(origin: base.origin, git: $0) }
    }
    if known.isEmpty, let base = bases.last, GitQuery.info(of: base.commit, in: root) == nil {
      let note = RunNote.unknownChanges(commit: base.commit)
      if !notes.contains(note) { notes.append(note) }
    }
    return changes(behind: finding, of: scenario.name, since: known)
  }

  /// Adds the changes since the commit whose build was profiled for comparison.
  mutating func addChanges(to explanations: inout [Explanation], since commit: String) {
    guard let git = comparison(with: commit) else { return }
    for index in explanations.indices where deadline > .now {
      guard let finding = explanations[index].comparison?.finding, Self.canSearch(finding) else { continue }
      let reference = KnownBase(origin: .reference, git: git)
      explanations[index].changes = changes(behind: finding, of: explanations[index].scenario, since: [reference])
    }
  }

  /// Whether what changed may be named: of functions, the call stacks must be known.
  private static func canSearch(_ finding: CulpritFinding) -> Bool {
    if case .otherMethod = finding { return false }
    return finding.functions.isEmpty || !finding.stacks.isEmpty
  }

  private typealias Base = (origin: CodeChanges.Origin, commit: String)

  /// The commits to compare with, the nearest first: a branch may be older than the approval, or younger.
  private mutating func bases(of scenario: ScenarioResult, comparedWith reference: String?) -> [Base] {
    if let reference { return [(.reference, reference)] }
    let bases: [Base] = [
      branchBase.map { (.branch, $0) }, approvedCommit(of: scenario).map { (.approved, $0) },
    ].compactMap(\.self)
    guard bases.count == 2, let approved = GitQuery.commits(since: bases[1].commit, in: root),
      let own = GitQuery.commits(since: bases[0].commit, in: root), approved < own
    else { return bases }
    return bases.reversed()
  }

  /// The commit at which the baseline was approved; if the checkout lacks it, as after a squashed merge, the one that
  /// brought the baseline.
  private func approvedCommit(of scenario: ScenarioResult) -> String? {
    guard let commit = scenario.approval?.commit else { return nil }
    guard GitQuery.info(of: commit, in: root) == nil else { return commit }
    let path = baselines.path(scenario.name, scenario.environment.name)
    return GitQuery.commit(changing: path, in: root) ?? commit
  }

  private mutating func comparison(with commit: String) -> GitComparison? {
    if let known = comparisons[commit] { return known }
    let comparison = measured.flatMap { GitComparison(with: commit, in: root, of: $0) }
    comparisons[commit] = .some(comparison)
    return comparison
  }

  // MARK: One scenario

  private struct KnownBase {
    let origin: CodeChanges.Origin
    let git: GitComparison
  }

  /// The changes since the first base with a changed function on the stacks, or else with one beneath them or what they use,
  /// or else what changed since the first.
  private func changes(
    behind finding: CulpritFinding, of scenario: ScenarioName, since bases: [KnownBase]
  ) -> CodeChanges? {
    var searched: [ChangedCode] = []
    for base in bases {
      var code = ChangedCode(since: base, finding, self, of: scenario)
      if !code.hits.isEmpty { return changes(naming: likely(in: &code), in: code) }
      searched.append(code)
    }
    for index in searched.indices {
      let named = likely(in: &searched[index])
      if !named.isEmpty { return changes(naming: named, in: searched[index]) }
    }
    return searched.first.map { changes(naming: [], in: $0) }
  }

  /// What changed since one base, with the functions on the stacks that did.
  private struct ChangedCode {
    let base: KnownBase
    let finding: CulpritFinding
    let scenario: ScenarioName
    var texts: ChangedTexts
    /// Of ``texts``.
    var join: StackJoin
    /// On the stacks, and beneath them.
    let hits, inner: [StackJoin.Hit]

    var isCertain: Bool { hits.contains(where: \.isCertain) }

    /// Adds the other changed files with functions.
    mutating func addSources() {
      texts.addSources(atMost: CodeChangeSearch.mostFiles)
      join = StackJoin(texts.files, tracked: texts.tracked)
    }

    init(since base: KnownBase, _ finding: CulpritFinding, _ search: CodeChangeSearch, of scenario: ScenarioName) {
      (self.base, self.finding, self.scenario) = (base, finding, scenario)
      let beneath = CodeChangeSearch.beneath(finding)
      texts = ChangedTexts(
        base.git, frames: (finding.stacks + beneath).flatMap(\.self), folders: search.folders[scenario] ?? [],
        most: CodeChangeSearch.mostFiles)
      join = StackJoin(texts.files, tracked: texts.tracked)
      hits = finding.stacks.flatMap(join.hits)
      inner = beneath.flatMap(join.hits).map { hit in
        var hit = hit
        hit.depth = -1
        return hit
      }
    }
  }

  /// The changes of functions that most likely explain the rise: a change that is certain stands alone; else those beneath the
  /// stacks and of what these use may be as likely, of which those that are further in come first.
  private func likely(in code: inout ChangedCode) -> [StackJoin.Hit] {
    guard !code.isCertain else { return besideCertain(in: &code) }
    var hits = code.hits + code.inner
    // Another version of a dependency is as likely as what the stacks only use.
    let changesDependency = code.base.git.files.contains(where: \.isDependency)
    if !changesDependency { hits += used(by: &code) }
    hits.sort { $0.order < $1.order }
    guard hits.isEmpty, !changesDependency else { return Self.first(of: hits) }
    hits = seen(beneath: code.finding.functions, code.join)
    return Self.first(of: hits.isEmpty ? usedIndirectly(by: code) : hits)
  }

  /// A change that is certain, and the new functions that it calls.
  ///
  /// An edit of the innermost function may be beside the cause, so that what this function and its caller use counts as well.
  private func besideCertain(in code: inout ChangedCode) -> [StackJoin.Hit] {
    guard !code.hits.contains(where: \.isNewCall) else { return Self.first(of: code.hits + newlyCalled(by: code)) }
    let used = used(by: &code).filter { $0.depth < 2 }
    return Self.first(of: (code.hits + used).sorted { $0.order < $1.order })
  }

  private static func first(of hits: [StackJoin.Hit]) -> [StackJoin.Hit] {
    var functions: [StackJoin.Hit] = []
    for hit in hits where !functions.contains(where: hit.isAtSamePlace(as:)) { functions.append(hit) }
    return Array(functions.prefix(mostFunctions))
  }

  /// These changes, and what changed elsewhere unless one is certain.
  private func changes(naming named: [StackJoin.Hit], in code: ChangedCode) -> CodeChanges {
    let (base, finding, scenario) = (code.base, code.finding, code.scenario)
    let within = dependencies(within: code.hits, since: base, finding, of: scenario)
    var changes =
      code.isCertain
      ? CodeChanges(base: base.git.base, origin: base.origin)
      : elsewhere(since: base, finding, of: scenario, besides: named)
    changes.elsewhere = within + changes.elsewhere.filter { place in !within.contains { $0.file == place.file } }
    // A dependency inside the repository is reported by its changed function.
    changes.elsewhere.removeAll { place in
      !place.dependencies.isEmpty
        && place.dependencies.allSatisfy { dependency in named.contains { $0.function == dependency.function } }
    }
    changes.functions = named.map { code.texts.function(of: $0) }
    return changes
  }

  /// The share of what is named from which a function that it calls may explain it.
  private static let leastBeneath = 0.3

  private static func beneath(_ finding: CulpritFinding) -> [[StackFrame]] {
    finding.functions.flatMap { function in
      let least = leastBeneath * Double(function.change.count)
      return function.beneath.filter { Double($0.change.count) >= least }.map(\.frames)
    }
  }

  /// The dependencies with another version whose code is further in than what changed on the stacks: that may be what calls
  /// them as before.
  private func dependencies(
    within hits: [StackJoin.Hit], since base: KnownBase, _ finding: CulpritFinding, of scenario: ScenarioName
  ) -> [ChangedPlace] {
    let all = base.git.files.filter(\.isDependency).map(\.path)
    let files = ElsewhereChanges.ranked(all, ignoring: ignored.compactMap(base.git.relative))
    guard !files.isEmpty, let innermost = hits.map(\.depth).min() else { return [] }
    let outer = Set(finding.stacks.flatMap { $0.dropFirst(innermost) }.map(\.function))
    return places(of: files, base.git, finding, of: scenario).compactMap { place in
      var place = place
      place.dependencies.removeAll { $0.function.map(outer.contains) ?? true }
      return place.dependencies.isEmpty ? nil : place
    }
  }

  /// The functions that a change adds beside what is certain, and that this calls.
  private func newlyCalled(by code: ChangedCode) -> [StackJoin.Hit] {
    let changed = Set(code.hits.map(\.function))
    return code.finding.stacks.flatMap { code.join.used(by: $0, in: code.base.git.text(asItIs:)) }
      .filter { hit in hit.isNew && hit.caller.map(changed.contains) == true }
  }

  /// The changes of functions that those on the stacks were seen to call, those that rose most first.
  ///
  /// What they hold may count for others, as where an interpreter uses released memory again. None of the program's start, which
  /// calls everything.
  private func seen(beneath functions: [FunctionChange], _ join: StackJoin) -> [StackJoin.Hit] {
    functions.filter { !$0.function.isStart }.flatMap { function in
      join.hits(on: function.called.filter { $0.file != nil }).map { hit in
        var hit = hit
        hit.caller = function.function
        return hit
      }
    }
  }

  /// What changed and is used by functions that those on the stacks use; none of the program's start.
  private func usedIndirectly(by code: ChangedCode) -> [StackJoin.Hit] {
    guard deadline > .now else { return [] }
    let (git, join) = (code.base.git, code.join)
    let paths = git.paths(with: join.usableNames, atMost: Self.mostFiles).filter { SourceLanguage(path: $0) != nil }
    let users = paths.compactMap(git.text(asItIs:))
    return code.finding.stacks.flatMap { stack in
      join.used(by: stack.filter { !$0.function.isStart }, through: users, in: git.text(asItIs:))
    }
  }

  /// What changed and is used by functions on the stacks, of all changed sources from now on.
  ///
  /// The program's start uses most parts of it. That counts for a value of its own file, or if nothing else does and no other
  /// file changed.
  private func used(by code: inout ChangedCode) -> [StackJoin.Hit] {
    let git = code.base.git
    let changed = ElsewhereChanges.ranked(git.files.map(\.path), ignoring: ignored.compactMap(git.relative))
    code.addSources()
    let (texts, join) = (code.texts, code.join)
    let hits = code.finding.stacks.flatMap { join.used(by: $0, in: git.text(asItIs:)) }
    let evident = hits.filter { $0.caller?.isStart != true || $0.isOwnValue }
    let hasOthers = changed.contains { path in
      ElsewhereChanges.isOfProgram(path) && !hits.contains { $0.file == path } && !texts.hasOnlyComments(path)
    }
    return evident.isEmpty && !hasOthers ? hits : evident
  }

  /// Without what is named already; beside that only what may be of the program counts.
  private func elsewhere(
    since base: KnownBase, _ finding: CulpritFinding, of scenario: ScenarioName, besides named: [StackJoin.Hit] = []
  ) -> CodeChanges {
    let git = base.git
    var changes = CodeChanges(base: git.base, origin: base.origin)
    let paths = Set(git.files.map(\.path))
    let ranked = ElsewhereChanges.ranked(
      Array(paths), ignoring: ignored.compactMap(git.relative),
      dataFirst: named.isEmpty && !finding.functions.isEmpty
    ).filter { named.isEmpty || ElsewhereChanges.isOfProgram($0) }
    changes.elsewhere = places(of: ranked, git, finding, of: scenario).filter { place in
      !named.contains { $0.isAt(place) }
    }
    let listed = Set(changes.elsewhere.map(\.file)).union(named.map(\.file))
    changes.otherFiles = ranked.count { !listed.contains($0) }
    return changes
  }

  /// What is known of the first of these files, those with dependencies on the stacks or beneath them first.
  private func places(
    of paths: [String], _ git: GitComparison, _ finding: CulpritFinding, of scenario: ScenarioName
  ) -> [ChangedPlace] {
    let known = Dictionary(git.files.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    var places: [ChangedPlace] = []
    for path in paths.prefix(Self.mostFiles) where places.count < ElsewhereChanges.most {
      places += known[path].map { self.places(of: $0, git) } ?? []
    }
    places.removeLast(max(0, places.count - ElsewhereChanges.most))
    let frames = finding.stacks.flatMap(\.self) + finding.functions.flatMap(\.beneath).flatMap(\.frames)
    let packages = PythonPackages(frames, projects: folders[scenario] ?? [])
    return StackDependencies(frames, installed: packages.names).marked(places)
  }

  /// None if only comments and spaces changed.
  private func places(of file: GitComparison.File, _ git: GitComparison) -> [ChangedPlace] {
    if let submodule = file.submodule { return [ChangedPlace(file: file.path, dependencies: [submodule])] }
    let text = file.isDeleted ? nil : git.text(of: file)
    let found = text.map(ElsewhereChanges.places) ?? [(ChangedPlace(file: file.path), nil)]
    return found.map { place, part in
      var place = place
      guard deadline > .now else { return place }
      place.commits =
        if let text, let part { git.authors(of: part, in: text).commits } else { git.commits(changing: file) }
      return place
    }
  }
}

/// The changed files that may have code on the call stacks.
private struct ChangedTexts {
  private let git: GitComparison
  private let paths: TrackedFiles
  private(set) var files: [ChangedFile] = []

  init(_ git: GitComparison, frames: [StackFrame], folders: [String], most: Int) {
    self.git = git
    let names = Set(frames.compactMap(\.file).map { String(TrackedFiles.name(of: $0)) })
    paths = TrackedFiles(git.tracked(named: names), tops: git.tops, folders: folders)
    let tracked = paths
    let concerned = Set(frames.map { Frame(frame: $0, file: $0.file.flatMap(tracked.file)) })
    func mayConcern(_ path: String) -> Bool {
      concerned.contains { StackJoin.mayConcern(path, $0.frame, file: $0.file) }
    }
    let changed = git.files.filter { !$0.isDeleted && $0.submodule == nil && mayConcern($0.path) }
    files = changed.prefix(most).compactMap(git.text)
    files += git.untracked(named: names).filter(mayConcern).prefix(most).compactMap(git.text(asItIs:))
  }

  private struct Frame: Hashable {
    let frame: StackFrame
    let file: String?
  }

  /// Adds the other changed files with functions.
  mutating func addSources(atMost most: Int) {
    let known = Set(files.map(\.path))
    let sources = git.files.filter { file in
      !file.isDeleted && !known.contains(file.path) && SourceLanguage(path: file.path) != nil
    }
    files += sources.prefix(most).compactMap(git.text)
  }

  func tracked(_ path: String) -> String? { paths.file(path) }

  func hasOnlyComments(_ path: String) -> Bool { files.first { $0.path == path }?.codeParts.isEmpty ?? false }

  /// More lines of a change are not reported, and longer ones are cut.
  private static let (mostLines, longestLine) = (8, 200)
  /// More changes of one function are not looked at.
  private static let mostParts = 3

  func function(of hit: StackJoin.Hit) -> ChangedFunction {
    let file = files.first { $0.path == hit.file }
    let others = hit.others.prefix(Self.mostParts)
    let authors = file.map { file in ([hit.lines] + others).map { git.authors(of: $0, in: file) } } ?? []
    var commits: [CommitInfo] = []
    for commit in authors.flatMap(\.commits) where !commits.contains(commit) { commits.append(commit) }
    func lines(_ lines: (ChangedFile) -> [String]) -> [String] {
      (file.map(lines) ?? []).prefix(Self.mostLines).map { String($0.prefix(Self.longestLine)) }
    }
    // Of a new file the lines around the function.
    let first = hit.part.now.count > Self.mostLines ? max(0, hit.line - hit.part.now.lowerBound - 2) : 0
    return ChangedFunction(
      function: hit.function, kind: hit.kind, caller: hit.caller, file: hit.file, line: hit.line,
      removed: lines { file in ([hit.part] + others).flatMap(file.removed) },
      added: lines { file in file.added(hit.part).dropFirst(first) + others.flatMap(file.added) },
      commits: commits, isUncommitted: authors.first?.isUncommitted ?? false, isNew: hit.isNew)
  }
}
