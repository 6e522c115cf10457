import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The self-check of a project's gates")
struct SelfCheckUseTests {
  /// A project whose target holds 20 MiB, and a share of what is injected.
  private func project(showing share: Double = 1, scenarioKeys: String = "gate: {peak_rss: auto}") throws
    -> UseCaseProject
  {
    let project = try UseCaseProject(holding: 20, repetitions: "{min: 5, max: 20}", scenarioKeys: scenarioKeys)
    project.measurer.follow { scenario, _ in
      .holding(20 + Double(scenario.target.ballast.count) / 1_048_576 * share)
    }
    return project
  }

  private func selfCheck(
    _ amount: InjectedAmount,
    in project: UseCaseProject,
    json: String? = nil
  ) throws -> UseCaseProject.Outcome {
    var selfCheck = SelfCheck()
    (selfCheck.amount, selfCheck.options.json) = (amount, json)
    return try project.run { try selfCheck.run(in: $0) }
  }

  @Test("The share of the unchanged peak is injected after the unchanged runs, and found; nothing else is written")
  func found() throws {
    let project = try project()
    let outcome = try selfCheck(.share(Percent(5)), in: project, json: "selfcheck.json")
    #expect(outcome.code == .pass, "\(outcome.text)")
    #expect(
      outcome.output == """
        ✓ load  +1.0 MiB (5 %) injected: regression, peak_rss +1.0 MiB (256 KiB allowed)
        highwater: the gate works in 1 of 1 scenario

        """)
    #expect(Set(project.measurer.measured.map(\.target.ballast.count)) == [0, 1_048_576])
    #expect(
      project.measurer.measured.prefix(6).map { $0.target.ballast == .zero } == [true, true, true, true, true, false])
    #expect(!project.exists(".highwater/result.json"))
    #expect(try project.object("selfcheck.json")["schema"] as? String == "highwater.selfcheck/1")
    #expect(try project.scenario(of: "selfcheck.json")["outcome"] as? String == "found")
    let approval = try project.approve { $0.from = "selfcheck.json" }
    #expect(approval.code == .usage && approval.errors.contains("highwater.selfcheck/1"))
  }

  @Test("Nothing injected passes, or shows a false alarm")
  func nothing() throws {
    let project = try project()
    let quiet = try selfCheck(.size(.zero), in: project)
    #expect(quiet.code == .pass && quiet.text.contains("✓ load nothing injected: pass"), "\(quiet.text)")
    project.measurer.follow { _, start in .holding(start % 4 == 0 || start % 4 == 3 ? 20 : 24) }
    let alarm = try selfCheck(.size(.zero), in: project)
    #expect(alarm.code == .regression, "\(alarm.text)")
    #expect(alarm.text.contains("✗ load nothing injected: regression, peak_rss rose by 4.0 MiB"))
  }

  @Test("A rise that is missed exits with 1, and one within the tolerance names a larger amount")
  func missed() throws {
    let missed = try selfCheck(.share(Percent(5)), in: try project(showing: 0.1))
    #expect(missed.code == .regression)
    #expect(missed.text.contains("✗ load +1.0 MiB (5 %) injected, not found: peak_rss +102.4 KiB (256 KiB allowed)"))
    let allowed = try selfCheck(.size(.kibibytes(200)), in: try project())
    #expect(allowed.code == .regression)
    #expect(allowed.text.contains("+200 KiB injected, not found, since the gate allows it: peak_rss allows 256 KiB"))
    #expect(allowed.text.contains("hint: inject what it should find (`--inject 512KiB`)"), "\(allowed.text)")
  }

  @Test("Without ptrace it is refused, with the cause; nothing is measured")
  func untraced() throws {
    let project = try project()
    project.measurer.fingerprint.measurement = "sampled"
    let refused = try selfCheck(.share(Percent(5)), in: project)
    #expect(refused.code == .usage && project.measurer.measured.isEmpty)
    #expect(refused.errors.contains("load: selfcheck injects memory with ptrace"), "\(refused.errors)")
    #expect(try selfCheck(.size(.zero), in: project).code == .pass)
  }

  @Test("A target that fails is reported with its end")
  func failed() throws {
    let project = try project()
    project.measurer.follow { _, _ in .holding(20, end: End(.exited, code: 9), output: "broken\n") }
    let failed = try selfCheck(.share(Percent(5)), in: project)
    #expect(failed.code == .failed && failed.text.contains("exited with code 9"), "\(failed.text)")
  }
}
