import Foundation
import GateCore
import Testing
import calibrate

/// The committed results of `ci/calibrate`.
private struct CommittedTables {
  static let folder = URL(fileURLWithPath: "\(#filePath)/../../../ci/calibrate.d").standardized.path

  let lines: [String]

  init() throws {
    lines = try String(contentsOfFile: "\(Self.folder)/RESULTS.md", encoding: .utf8).components(separatedBy: "\n")
  }

  /// The cells of the first table under a heading, by row.
  func rows(under heading: String) -> [[String]] {
    lines.drop { $0 != heading }.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map { line in
      line.components(separatedBy: "|").dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}

@Suite("The committed calibration")
struct CommittedTablesTests {
  @Test("The tables were made with the current defaults (otherwise run `ci/calibrate`)")
  func defaults() throws {
    let text = try CommittedTables().lines.joined(separator: "\n")
    #expect(text.contains(Defaults.lines.joined(separator: "\n")))
  }

  @Test(
    "The rows match the current rules (otherwise run `ci/calibrate`)",
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
    "The steps in histories match the current rules (otherwise run `ci/calibrate`)",
    arguments: [SyntheticHistory.level(.normal(1)), .level(.bimodal(0.2)), .step(5, age: 3, .normal(1))]
  )
  func steps(history: SyntheticHistory) throws {
    let row = ChangePointTables.row(history)
    #expect(try CommittedTables().rows(under: "## I. Steps in a history").contains(row), "\(row)")
  }

  @Test(
    "At most 2 % of histories without steps show one, and at most 1 % with the gate's tolerance")
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

  @Test("Approvals match the current rules (otherwise run `ci/calibrate`)")
  func approvals() throws {
    let rows = try CommittedTables().rows(under: "## K. Approvals")
    #expect(rows.contains(ApprovalTables.row(0.1, .following(1))))
    let few = rows.dropFirst(2).filter { !$0[1].hasPrefix("50") }
    #expect(few.count == 24)
    for row in few { #expect(try #require(Double(row[2])) <= 100 * RepetitionPlan.falseAlarms, "\(row)") }
  }

  @Test("Every row has at most 1 % of false alarms with the defaults")
  func falseAlarmRate() throws {
    let rows = try CommittedTables().rows(under: "### Repetitions: adaptive").dropFirst(2)
    #expect(rows.count == 3 * Noise.all.count)
    for row in rows {
      let share = try #require(Double(row[2]))
      #expect(share <= 100 * RepetitionPlan.falseAlarms, "\(row)")
    }
  }

  @Test("At least sixteen real programs are recorded, with regressions in at most 1 % of self-comparisons")
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
