import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Bisections as JSON")
struct BisectFileTests {
  private static let failure = Failure(problem: .signalNotSent, end: End(.exited, code: 2), output: "no room\n")

  /// Commits 0 to 4, of which 2 does not build and 3 is the guilty one.
  private static let bisection: Bisection = {
    var bisection = Bisection(last: 4, plan: RepetitionPlan(min: 2, max: 2))
    while let next = bisection.next {
      let value = next < 3 ? 25_165_824.0 : 27_682_406
      let measured = MeasuredCommit(
        repetitions: 2, values: [.peakRSS: [value, value], .growth: [0.25, 0.5]],
        reference: [.peakRSS: [25_165_824, 25_165_824], .growth: [0.5, 0.25]], units: [.growth: "bytes/iteration"])
      bisection.record(next == 2 ? .notBuilt(failure: failure) : .measured(values: measured), at: next)
    }
    return bisection
  }()

  @Test("The file matches the golden file")
  func golden() throws {
    let commits = (0...4).map { String(repeating: "\($0)", count: 40) }
    var scenario = ScenarioBisection(
      name: ScenarioName("load"), environment: DocumentExamples.result.environment, bisection: Self.bisection,
      outcome: try #require(Self.bisection.outcome), commits: commits)
    scenario.details[commits[3]] = CommitInfo(
      commit: commits[3], subject: "Keep all rows", author: "Ada", date: Date(timeIntervalSince1970: 1_767_225_600),
      parents: [commits[2]])
    let result = BisectResult(
      run: DocumentExamples.result.run, good: .init(revision: "v1.4", commit: commits[0]),
      bad: .init(revision: "HEAD", commit: commits[4]), build: "make", commitCount: 4, builds: 5,
      scenarios: [scenario])
    try DocumentGolden.expect(BisectFile.encode(result, words: .examples), toBe: "bisect.json")
  }

  @Test("Stored answers are read as they were, and anything else is an error")
  func state() throws {
    let folder = try ScratchFolder()
    let answers = Dictionary(uniqueKeysWithValues: Self.bisection.answers.map { ("c\($0.key)", $0.value) })
    let state = BisectState(good: "c0", bad: "c4", answers: answers)
    let path = "\(folder.path)/state.json"
    try BisectStateFile.write(state, to: path)
    #expect(try BisectStateFile.read(path) == state)
    for text in ["", "{}", #"{"schema": "highwater.bisect-state/2"}"#, #"{"schema": "highwater.bisect-state/1"}"#] {
      #expect(throws: FileError.self) { try BisectStateFile.decode(Array(text.utf8), path: path) }
    }
  }
}
