import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("A baseline that a merge has made unusable")
struct UnusableBaselineTests {
  /// A project whose baseline of 8 MiB, and another of 12 MiB, are joined to a text.
  private func project(joining join: (_ ours: String, _ theirs: String) throws -> String) throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 12)
    try project.checkAndApprove()
    let file = try project.baseline()
    let theirs = try project.read(file)
    project.measurer.hold(8)
    _ = try project.check()
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    try project.write(join(project.read(file), theirs), to: file)
    return project
  }

  private static func conflict(_ ours: String, _ theirs: String) -> String {
    "<<<<<<< HEAD\n\(ours)=======\n\(theirs)>>>>>>> topic\n"
  }

  /// The values of one approval with the name of another run.
  private static func mixture(_ ours: String, _ theirs: String) -> String {
    ours.replacingOccurrences(of: #""run" : "[^"]*"#, with: "\"run\" : \"other", options: .regularExpression)
  }

  @Test("A check names both approvals, and never passes; the approval of its result settles it")
  func conflict() throws {
    let project = try project(joining: Self.conflict)
    let check = try project.check { $0.allowsMissingBaseline = true }
    #expect(check.code == .noBaseline && check.verdict == "no-baseline", "\(check.text)")
    let words = "the baseline has an unresolved merge conflict: ours is peak_rss 8.0 MiB (approved by "
    #expect(
      check.text.contains(words) && check.text.contains("theirs is peak_rss 12.0 MiB (approved by"), "\(check.text)")
    #expect(
      check.text.contains("approve them in place of the unusable baseline: highwater approve load"), "\(check.text)")
    #expect(try project.approve().code == .pass)
    #expect(try !project.read(project.baseline()).contains("<<<<"))
    #expect(try project.check().code == .pass)
  }

  @Test("A mixture of two approvals does not pass either")
  func mixture() throws {
    let project = try project(joining: Self.mixture)
    let check = try project.check()
    #expect(check.code == .noBaseline)
    #expect(check.text.contains("it was edited, or a merge took parts of two baselines"), "\(check.text)")
    let compared = try project.compare(project.baseline(), ".highwater/result.json")
    #expect(compared.code == .usage && compared.errors.contains("is not as it was approved"), "\(compared.errors)")
    #expect(try project.approve().code == .pass)
    #expect(try project.check().code == .pass)
  }

  @Test("A result from before the merge is refused, and so are fewer repetitions than the project file asks for")
  func guards() throws {
    let project = try project(joining: Self.conflict)
    let early = try project.approve()
    #expect(early.code == .usage)
    #expect(early.text.contains("measured before a merge or an edit made its baseline unusable"), "\(early.text)")
    _ = try project.check { $0.repetitions = 1 }
    let few = try project.approve()
    #expect(
      few.code == .usage && few.text.contains("it has 1 repetition, but the project file asks for at least 2"),
      "\(few.text)")
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    #expect(try project.check().code == .pass)
  }

  @Test("A validation names the file and both approvals, and notes unused baselines")
  func validation() throws {
    let project = try project(joining: Self.conflict)
    let broken = try project.run { try Validate().run(in: $0) }
    #expect(broken.code == .usage && broken.output.isEmpty)
    let file = try project.baseline()
    #expect(
      broken.errors.hasPrefix("\(file): error: the baseline has an unresolved merge conflict: ours is peak_rss 8.0"))
    #expect(broken.errors.contains("hint: measure the scenario with `highwater check NAME`"), "\(broken.errors)")
    try project.shell("mv baselines/load baselines/renamed")
    let stale = try project.run { try Validate().run(in: $0) }
    #expect(stale.code == .pass)
    #expect(
      stale.errors.contains("note: unused baselines: baselines/renamed;"), "\(stale.errors)")
  }
}
