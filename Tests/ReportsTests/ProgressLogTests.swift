import GateCore
import Testing

@testable import GateApplication

@Suite("Progress in a log")
struct ProgressLogTests {
  private static let name = ScenarioName("redis-load")
  private static let start = ContinuousClock.now

  private static func repetition(_ number: Int, isWarmup: Bool = false) -> Progress.Repetition {
    Progress.Repetition(scenario: name, number: number, of: isWarmup ? 1 : 3, isWarmup: isWarmup)
  }

  /// One scenario of two repetitions; the first takes 25 s, and the clock is looked at each second.
  private func lines(in system: CISystem?, name: ScenarioName = name) -> [Substring] {
    var log = ProgressLog(folding: system?.row.folding)
    var text = log.text(for: .scenarioStarted(name, index: 2, of: 14), at: Self.start, seconds: 1000)
    for (number, duration) in [(1, 25), (2, 3)] {
      let begin = Self.start + .seconds(number * 100)
      let repetition = Progress.Repetition(scenario: name, number: number, of: 3)
      text += log.text(for: .repetitionStarted(repetition), at: begin, seconds: 1000)
      for second in 1...duration { text += log.waitingText(at: begin + .seconds(second)) }
      text += log.text(
        for: .repetitionFinished(repetition, peak: Bytes(24_207_360), duration: .seconds(duration)),
        at: begin + .seconds(duration), seconds: 1000)
      for second in 26...40 { text += log.waitingText(at: begin + .seconds(second)) }
    }
    var finished = Fixture.passing("a")
    finished.name = name
    text += log.text(for: .scenarioFinished(finished), at: Self.start, seconds: 1500)
    return (text + log.endText(seconds: 1500)).split(separator: "\n")
  }

  private static let plain: [Substring] = [
    "redis-load  1/3  running for 10 s  scenario 2 of 14", "redis-load  1/3  running for 20 s  scenario 2 of 14",
    "redis-load  1/3  23.1 MiB  25 s  scenario 2 of 14", "redis-load  2/3  23.1 MiB  3.0 s  scenario 2 of 14",
  ]

  @Test("A repetition has a line when it ends, and one for every ten seconds that it takes")
  func plain() {
    #expect(lines(in: nil) == Self.plain)
  }

  @Test("GitHub folds the lines of a scenario, and its verdict follows")
  func gitHub() {
    let verdict: Substring = "✓ pass  redis-load  peak 23.1 MiB +0.4 %"
    #expect(lines(in: .gitHub) == ["::group::redis-load  scenario 2 of 14"] + Self.plain + ["::endgroup::", verdict])
  }

  @Test("GitLab folds them between two marks with the same name")
  func gitLab() {
    let lines = lines(in: .gitLab)
    let mark = "\u{1b}[0Ksection_start:1000:highwater_1000_2[collapsed=true]\r\u{1b}[0K"
    #expect(lines.first.map(String.init) == mark + "redis-load  scenario 2 of 14")
    #expect(lines.dropLast().last == "\u{1b}[0Ksection_end:1500:highwater_1000_2\r\u{1b}[0K")
    #expect(Array(lines[1...4]) == Self.plain)
  }

  @Test("Azure Pipelines folds them between two commands")
  func azure() {
    let lines = lines(in: .azure)
    #expect(lines.first == "##[group]redis-load  scenario 2 of 14" && lines.dropLast().last == "##[endgroup]")
    #expect(Array(lines[1...4]) == Self.plain)
  }

  @Test("Scenarios that are measured at the same time have lines of their own, and no section")
  func sideBySide() {
    var log = ProgressLog(folding: CISystem.gitHub.row.folding)
    let names = ["a", "b"].map { ScenarioName($0) }
    var text = ""
    for (index, name) in names.enumerated() {
      text += log.text(
        for: .scenarioStarted(name, index: index + 1, of: 2, isAlone: false), at: Self.start, seconds: 0)
      let repetition = Progress.Repetition(scenario: name, number: 1, of: 3)
      text += log.text(for: .repetitionStarted(repetition), at: Self.start + .seconds(5 * index), seconds: 0)
    }
    for second in [10, 15] { text += log.waitingText(at: Self.start + .seconds(second)) }
    text += log.text(
      for: .repetitionFinished(
        Progress.Repetition(scenario: names[0], number: 1, of: 3), peak: .mebibytes(2), duration: .seconds(16)),
      at: Self.start + .seconds(16), seconds: 0)
    text += log.waitingText(at: Self.start + .seconds(25)) + log.endText(seconds: 0)
    #expect(
      text.split(separator: "\n") == [
        "a  1/3  running for 10 s  scenario 1 of 2", "b  1/3  running for 10 s  scenario 2 of 2",
        "a  1/3  2.0 MiB  16 s  scenario 1 of 2", "b  1/3  running for 20 s  scenario 2 of 2",
      ])
  }

  @Test("A name is not a command, whoever reads the log", arguments: [nil] + CISystem.allCases)
  func attacks(system: CISystem?) {
    let own = system?.row.folding == nil ? 0 : 2
    let lines = lines(in: system, name: ScenarioName("::error::x\n::warning::y\u{1b}[0Ksection_end:1:a\r##[group]"))
    func isCommand(_ line: Substring) -> Bool {
      line.hasPrefix("::") || line.hasPrefix("##[") || line.contains("\u{1b}[0Ksection_")
    }
    #expect(lines.filter(isCommand).count == own, "\(lines)")
    // GitHub obeys the first command of a line.
    let hidden = lines.filter { !$0.hasPrefix("::group::") }.map { $0.dropFirst(isCommand($0) ? 3 : 0) }
    #expect(!hidden.contains { $0.contains("##[") }, "\(lines)")
  }

  @Test("A warm-up is only seen while it takes long, and a single repetition of a command has no line at its end")
  func few() {
    var log = ProgressLog(folding: nil)
    let single = Progress.Repetition(scenario: Self.name, number: 1, of: 1)
    #expect(log.text(for: .repetitionStarted(Self.repetition(1, isWarmup: true)), at: Self.start, seconds: 0) == "")
    #expect(log.waitingText(at: Self.start + .seconds(12)) == "redis-load  warm-up 1/1  running for 12 s\n")
    #expect(log.text(for: .repetitionStarted(single), at: Self.start + .seconds(13), seconds: 0) == "")
    let end = Progress.repetitionFinished(single, peak: nil, duration: .seconds(1))
    #expect(log.text(for: end, at: Self.start + .seconds(14), seconds: 0) == "")
  }

  @Test("A repetition with the profiler has a line while it takes long, and none at or after its end")
  func explaining() {
    var log = ProgressLog(folding: nil)
    let repetition = Progress.Repetition(scenario: Self.name, number: 3, of: 3, purpose: .explaining)
    _ = log.text(for: .repetitionStarted(repetition), at: Self.start, seconds: 0)
    #expect(log.waitingText(at: Self.start + .seconds(12)) == "redis-load  explaining 3/3  running for 12 s\n")
    let end = Progress.repetitionFinished(repetition, peak: nil, duration: .seconds(14))
    #expect(log.text(for: end, at: Self.start + .seconds(14), seconds: 0) == "")
    #expect(log.waitingText(at: Self.start + .seconds(40)) == "")
    #expect(ProgressReport.line(end, style: TerminalStyle(width: 80)) == "redis-load  explaining 3/3  14 s")
  }

  @Test("An interrupted run ends its open part of the log")
  func interrupted() {
    var log = ProgressLog(folding: CISystem.gitHub.row.folding)
    _ = log.text(for: .scenarioStarted(Self.name, index: 1, of: 2), at: Self.start, seconds: 0)
    _ = log.text(for: .repetitionStarted(Self.repetition(1)), at: Self.start, seconds: 0)
    #expect(log.endText(seconds: 0) == "::endgroup::\n" && log.endText(seconds: 0) == "")
    #expect(log.waitingText(at: Self.start + .seconds(60)) == "")
  }
}
