import FoundationEssentials
import GateCore
import LinuxSystem

/// Runs tests that have a process each: finds the programs once for each checkout, and then runs the tests one by one.
final class ListedSuite {
  private let tests: ListedTests
  /// The command, in this checkout.
  private let scenario: Scenario
  private let scratch: String
  private let output: String
  private let invocation: Invocation
  /// What the framework sets for each test.
  private let variables: [String: String]
  /// By the root of the checkout.
  private var known: [String: [ListedTest]] = [:]
  /// The last lines of the last test that failed.
  private var lastFailure = ""

  init(_ tests: ListedTests, _ scenario: Scenario, scratch: String, output: String, _ invocation: Invocation) {
    (self.tests, self.scenario, self.scratch) = (tests, scenario, scratch)
    (self.output, self.invocation) = (output, invocation)
    variables = tests.variables(invocation.variables.merging(scenario.target.environment) { _, own in own })
  }

  /// Why the tests cannot be listed.
  private struct Stopped: Error {
    /// nil after an interruption.
    let problem: SuiteProblem?
  }

  /// Runs all tests, or only those in that order.
  ///
  /// - Returns: nil after an interruption.
  func run(_ only: [String]?, in root: String, _ purpose: Progress.Repetition) throws -> SuiteRun? {
    let begin = ContinuousClock.now
    let listed: [ListedTest]
    do {
      listed = try list(in: root)
    } catch let stopped as Stopped {
      return stopped.problem.map { SuiteRun(log: TestLog(), problem: $0, duration: ContinuousClock.now - begin) }
    }
    let byName = Dictionary(listed.map { ($0.name, $0) }) { first, _ in first }
    var runs: [TestRun] = []
    defer { invocation.console.endProgress() }
    let chosen = only.map { $0.compactMap { byName[$0] } } ?? listed
    for (index, test) in chosen.enumerated() {
      var progress = purpose
      if only == nil { (progress.number, progress.of) = (index + 1, chosen.count) }
      invocation.console.show(.repetitionStarted(progress))
      guard let run = run(test, number: index, in: root) else { return nil }
      runs.append(run)
    }
    let problem: SuiteProblem? = runs.isEmpty ? .noneListed : nil
    return SuiteRun(
      log: TestLog(of: runs), problem: problem, duration: ContinuousClock.now - begin, output: lastFailure)
  }

  // MARK: One test

  private func run(_ test: ListedTest, number: Int, in root: String) -> TestRun? {
    var scenario = scenario(test.program.words + test.selection, in: test.program.folder, root: root)
    scenario.target.environment.merge(variables) { _, new in new }
    scenario.target.environment.merge(test.program.variables) { _, own in own }
    scenario.expect = test.exits.map { ExpectedEnd(exits: $0) }
    scenario.interval = .milliseconds(10)
    scenario.isolation.tracer = .auto
    guard let recording = invocation.measurer.measure(scenario, output: nil, keepsInterrupted: false) else {
      return nil
    }
    let failure = recording.failure(in: scenario, loop: nil)
    if let failure { keepOutput(recording.outputTail, failure, of: test) }
    let peak = recording.result().metrics[.peakRSS].map { Bytes(clampedFrom: $0) }
    let hasEnded = failure.map { $0.end != nil && $0.end?.kind != .timeout } ?? true
    return TestRun(
      SuiteTest(test.name), outcome: failure == nil ? .passed : hasEnded ? .failed : .unfinished,
      figures: peak.map { TestFigures(peak: $0) }, isExact: recording.processes.contains { $0.isMain && $0.isExact },
      duration: recording.duration, process: Int32(clamping: number))
  }

  private func keepOutput(_ text: String, _ failure: Failure, of test: ListedTest) {
    let end = failure.end.flatMap { $0.kind == .exited ? nil : $0.displayText }
    lastFailure = [text, end.map { "\(test.name) ended unexpectedly: \($0)" }].compactMap(\.self)
      .joined(separator: text.isEmpty || text.hasSuffix("\n") ? "" : "\n")
    try? SafeFile.append(Array("\(test.name):\n\(text)\n".utf8), to: output)
  }

  private func scenario(_ words: [String], in folder: String, root: String) -> Scenario {
    var scenario = scenario
    scenario.root = root
    scenario.target.command = .arguments(words)
    scenario.target.workingDirectory = folder
    return scenario
  }

  // MARK: The list

  private func list(in root: String) throws -> [ListedTest] {
    if let listed = known[root] { return listed }
    let listed = try programs(in: root).flatMap { try list(of: $0, root: root) }
    guard listed.count <= TestLogFolder.mostTests else {
      throw Stopped(problem: .tooManyTests(most: TestLogFolder.mostTests))
    }
    known[root] = listed
    return listed
  }

  private func list(of program: TestProgram, root: String) throws -> [ListedTest] {
    for arguments in tests.listings(program.words) {
      let listed = try list(of: program, arguments, root: root)
      guard !listed.isEmpty else { continue }
      let left = Set(try tests.omitted.map { try list(of: program, $0, root: root).map(\.name) } ?? [])
      return listed.filter { !left.contains($0.name) }
    }
    return []
  }

  private func list(of program: TestProgram, _ arguments: [String], root: String) throws -> [ListedTest] {
    let file = "\(scratch)/list"
    var scenario = scenario(program.words + arguments, in: program.folder, root: root)
    scenario.expect = ExpectedEnd(exits: tests.listingExits)
    try measure(scenario, output: file)
    return tests.tests(try SafeFile.read(file, atMost: 64 << 20), program)
  }

  private func programs(in root: String) throws -> [TestProgram] {
    let moved = root == scenario.root ? scenario : scenario.moved(to: root)
    let (words, folder) = (moved.target.command.words, moved.target.workingDirectory)
    guard let discovery = tests.discovery else { return [TestProgram(words: words, folder: folder)] }
    let kept = try makeTemporaryFolder(in: scratch)
    try SafeFile.write(Array(TestPrograms.wrapper(writingTo: kept).utf8), to: "\(kept)/wrapper")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(kept)/wrapper")
    let command = discovery(words, "\(kept)/wrapper")
    var scenario = scenario(command.words, in: folder, root: root)
    scenario.target.environment.merge(command.variables) { _, new in new }
    try measure(scenario, output: output)
    let log = (try? SafeFile.read("\(kept)/programs", atMost: 64 << 20)) ?? []
    return TestPrograms.parse(log, below: folder)
  }

  private func measure(_ scenario: Scenario, output: String) throws {
    guard let recording = invocation.measurer.measure(scenario, output: output, keepsInterrupted: false) else {
      throw Stopped(problem: nil)
    }
    if let failure = recording.failure(in: scenario, loop: nil) { throw Stopped(problem: .failed(failure: failure)) }
  }
}
