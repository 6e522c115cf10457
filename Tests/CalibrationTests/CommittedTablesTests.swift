import Foundation
import GateCore
import Testing
import calibrate

/// What `ci/calibrate` wrote, as it is committed.
private struct CommittedTables {
  static let folder = URL(fileURLWithPath: "\(#filePath)/../../../ci/calibrate.d").standardized.path

  let lines: [String]

  init() throws {
    lines = try String(contentsOfFile: "\(Self.folder)/RESULTS.md", encoding: .utf8).components(separatedBy: "\n")
  }

  /// The rows of the first table under a heading, cell by cell.
  func rows(under heading: String) -> [[String]] {
    lines.drop { $0 != heading }.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map { line in
      line.components(separatedBy: "|").dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}

@Suite("The committed calibration")
struct CommittedTablesTests {
  @Test("It was made with the defaults that the gate has now: else `ci/calibrate` is to be run again")
  func defaults() throws {
    let text = try CommittedTables().lines.joined(separator: "\n")
    #expect(text.contains(Defaults.lines.joined(separator: "\n")))
  }

  @Test(
    "Its rows are what the gate's rules yield now: else `ci/calibrate` is to be run again",
    arguments: [
      (Noise.normal(3), 5, "adaptive"), (.normal(5), 10, "5"), (.bimodal(0.5), 10, "5"), (.outliers, 5, "3"),
    ]
  )
  func rows(noise: Noise, baseline: Int, plan: String) throws {
    let repetitions = try #require(FalseAlarms.plans.first { $0.name == plan }).repetitions
    let tally = FalseAlarms.tally(noise, baseline: baseline, repetitions)
    let rows = try CommittedTables().rows(under: "### Repetitions: \(plan)")
    #expect(rows.contains(FalseAlarms.row(noise, baseline: baseline, tally)), "\(noise.name), \(tally)")
  }

  @Test(
    "Its histories have the steps that are found now: else `ci/calibrate` is to be run again",
    arguments: [SyntheticHistory.level(.normal(1)), .level(.bimodal(0.2)), .step(5, age: 3, .normal(1))]
  )
  func steps(history: SyntheticHistory) throws {
    let row = ChangePointTables.row(history)
    #expect(try CommittedTables().rows(under: "## I. Steps in a history").contains(row), "\(row)")
  }

  @Test("Of histories without steps few have some at no tolerance, and hardly any at that of the gate, creep or not")
  func falseSteps() throws {
    let rows = try CommittedTables().rows(under: "## I. Steps in a history")
    let level = rows.filter { $0[0].hasPrefix("one level: ") && !$0[0].contains("wandering") }
    #expect(level.count == 9)
    for row in level {
      #expect(try #require(Double(row[1])) <= 2, "\(row)")
      #expect(try #require(Double(row[6])) <= 1, "\(row)")
    }
    let creep = rows.filter { $0[0].contains("creep 0.") && !$0[0].contains("CV 2 %") && !$0[0].contains("after 40") }
    #expect(creep.count == 8)
    for row in creep { #expect(try #require(Double(row[6])) <= 1, "\(row)") }
  }

  @Test("Every row of false alarms at the defaults keeps the promise: at most 1 %")
  func promise() throws {
    let rows = try CommittedTables().rows(under: "### Repetitions: adaptive").dropFirst(2)
    #expect(rows.count == 3 * Noise.all.count)
    for row in rows {
      let share = try #require(Double(row[2]))
      #expect(share <= 100 * RepetitionPlan.falseAlarms, "\(row)")
    }
  }

  @Test("Sixteen real programs or more are recorded, and are called worse than themselves in at most 1 % of cases")
  func recorded() throws {
    let all = try RecordedSeries.all(in: "\(CommittedTables.folder)/recorded")
    #expect(all.count >= 16)
    var sum = Tally()
    for series in all {
      #expect(series.repetitions.count == 60, "\(series.program)")
      let tally = RecordedTables.tally(of: series)
      #expect(tally.count == 31)
      sum = sum + tally
    }
    #expect(sum.percent(.regression) <= 100 * RepetitionPlan.falseAlarms)
  }
}
