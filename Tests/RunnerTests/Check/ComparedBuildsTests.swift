import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Comparing two builds")
struct ComparedBuildsTests {
  /// A project whose target holds 24 MiB, plus `EXTRA`.
  private func project() throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 24, repetitions: "{min: 5, max: 20}")
    project.measurer.follow { scenario, _ in
      .holding(24 + (scenario.target.environment["EXTRA"].flatMap(Double.init) ?? 0))
    }
    return project
  }

  @Test("The builds alternate, each being first equally often, and are judged without a baseline")
  func inTurn() throws {
    let project = try project()
    let same = try project.check { $0.against = .command("BUILD=main") }
    #expect(same.code == .pass, "\(same.text)")
    #expect(
      project.measurer.measured.map { $0.target.environment["BUILD"] ?? "-" } == [
        "main", "-", "-", "main", "main", "-", "-", "main", "main", "-",
      ])
    #expect(try project.baselines().isEmpty)
  }

  @Test("A build that needs more memory is a regression, which cannot be approved")
  func larger() throws {
    let project = try project()
    let larger = try project.check { $0.against = .command("BUILD=main EXTRA=-2") }
    #expect(larger.code == .regression, "\(larger.text)")
    #expect(larger.text.contains("compared with the build `BUILD=main EXTRA=-2`"))
    #expect(!larger.output.contains("highwater approve"))
  }

  @Test("Another program gets the scenario's arguments, and the results of both builds can be compared")
  func otherProgram() throws {
    let project = try project()
    #expect(try project.check { ($0.against, $0.options.json) = (.command("old-server"), "now.json") }.code == .pass)
    let commands = Set(project.measurer.measured.map { $0.target.command.words.joined(separator: " ") })
    #expect(commands == ["server --port 7", "old-server --port 7"])
    let compared = try project.compare(".highwater/against/result.json", "now.json")
    #expect(compared.code == .pass, "\(compared.text)")
  }

  @Test("A failing build is named, with its output")
  func failing() throws {
    let project = try project()
    project.measurer.follow { scenario, _ in
      let isBroken = scenario.target.environment["BUILD"] == "broken"
      return .holding(24, end: End(.exited, code: isBroken ? 9 : 0), output: "started\n")
    }
    let check = try project.check { $0.against = .command("BUILD=broken") }
    #expect(check.code == .failed)
    #expect(check.text.contains("the comparison build, repetition 1 of 5: the target ended: exited with code 9"))
    #expect(check.output.contains(".highwater/against/output/load/1.log"), "\(check.output)")
  }

  @Test("A value without a build exits with 2 and a hint", arguments: ["", "'open", "BUILD=x \"open"])
  func unusable(text: String) throws {
    let project = try project()
    let check = try project.check { $0.against = .command(text) }
    #expect(check.code == .usage)
    #expect(check.errors.contains("--against") && check.errors.contains("hint:"))
    #expect(check.output.isEmpty && project.measurer.measured.isEmpty)
  }
}
