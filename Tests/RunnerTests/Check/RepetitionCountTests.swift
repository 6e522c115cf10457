import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Number of repetitions of a check")
struct RepetitionCountTests {
  /// Spread evenly over 24 to 32 MiB: 20 values neither show nor exclude a rise of 3 %.
  private static let noisy = [24.0, 32, 26, 28, 30, 25, 31, 27, 29]

  private func project() throws -> UseCaseProject {
    try UseCaseProject(holding: 24, repetitions: "{min: 5, max: 20}")
  }

  @Test("A quiet program gets a baseline of 10 repetitions, and its check stops after 5")
  func quiet() throws {
    let project = try project()
    try project.checkAndApprove()
    #expect(project.measurer.measured.count == 10)
    project.measurer.hold(24)
    #expect(try project.check().code == .pass)
    #expect(project.measurer.measured.count == 5)
  }

  @Test("A noisy program gets a baseline of 20 repetitions, and its check is inconclusive after 20")
  func noisy() throws {
    let project = try project()
    project.measurer.follow { _, start in .holding(Self.noisy[start % Self.noisy.count]) }
    try project.checkAndApprove()
    #expect(project.measurer.measured.count == 20)
    project.measurer.follow { _, start in .holding(Self.noisy[start % Self.noisy.count]) }
    let check = try project.check()
    #expect(check.code == .inconclusive, "\(check.text)")
    #expect(project.measurer.measured.count == 20)
    let scenario = try project.scenario()
    #expect((scenario["repetitions"] as? [Any])?.count == 20)
    #expect(check.text.contains("20 repetitions (5 to 20 allowed): still undecided"))
    let metric = try #require((scenario["metrics"] as? [[String: Any]])?.first)
    #expect(metric["method"] as? String == "rank-test")
  }

  @Test("A difference that 5 repetitions do not show is shown by 10")
  func secondLook() throws {
    let project = try project()
    try project.checkAndApprove()
    // Four of ten values are high: after five repetitions this is neither shown nor excluded.
    project.measurer.hold(24, 26, 24, 26, 26, 24, 24, 24, 24, 24)
    let check = try project.check()
    #expect(project.measurer.measured.count > 5, "\(check.text)")
    project.measurer.hold(27)
    #expect(try project.check().code == .regression)
    #expect(project.measurer.measured.count == 5)
  }

  @Test("Three repetitions are compared by size, with a note in the report")
  func tooFew() throws {
    let project = try UseCaseProject(holding: 24, repetitions: "3")
    try project.checkAndApprove()
    let same = try project.check()
    #expect(same.code == .pass)
    #expect(same.text.contains("too few values for a statistical test (3 now, 3 in the baseline)"))
    project.measurer.hold(26)
    #expect(try project.check().code == .regression)
  }

  @Test("The option overrides the scenario, and a failed repetition is the last one")
  func option() throws {
    let project = try project()
    _ = try project.check { $0.repetitions = 4 }
    #expect(project.measurer.measured.count == 4)
    project.measurer.follow { _, start in
      .holding(24, end: End(.exited, code: start == 1 ? 7 : 0), output: "no disk\n")
    }
    let check = try project.check()
    #expect(check.code == .failed)
    #expect(project.measurer.measured.count == 2)
    #expect(check.text.contains("repetition 2 of 10: the target ended: exited with code 7"), "\(check.text)")
    #expect(check.text.contains("no disk") && check.text.contains(".highwater/output/load/2.log"), "\(check.text)")
  }

  @Test("An interruption leaves the result and the baselines unchanged")
  func interruption() throws {
    let project = try project()
    try project.checkAndApprove()
    let before = (try project.read(".highwater/result.json"), try project.baselines())
    project.measurer.follow { _, start in start < 2 ? .holding(24) : nil }
    let check = try project.check()
    #expect(check.code == .interrupted)
    #expect(check.output.isEmpty && check.errors.contains("interrupted"))
    #expect(try project.read(".highwater/result.json") == before.0)
    #expect(try project.baselines() == before.1)
  }
}
