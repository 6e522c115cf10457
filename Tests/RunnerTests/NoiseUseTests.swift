import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Noise studies with scripted recordings")
struct NoiseUseTests {
  private func project(
    warmup: Int = 1, jobs: Int = 1, isExclusive: Bool = false, _ script: @escaping ScriptedMeasurer.Script
  ) throws -> UseCaseProject {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      jobs: \(jobs)
      scenarios: [{name: it, target: {command: [server]}, warmup: \(warmup), exclusive: \(isExclusive)}]
      """, holding: 8)
    project.measurer.follow(script)
    return project
  }

  /// A little noise, in whole pages.
  private static let quiet: ScriptedMeasurer.Script = { _, start in .holding(20 + Double(start * 7 % 5) / 256) }

  @Test("Variants alternate with half as many repetitions, unless `--as-is` leaves them out")
  func turns() throws {
    let project = try project(Self.quiet)
    #expect(try project.noise { ($0.triesVariants, $0.repetitions) = (false, 12) }.code == .pass)
    #expect(project.measurer.measured.count == 13)

    project.measurer.follow(Self.quiet)
    let outcome = try project.noise { ($0.repetitions, $0.options.json) = (12, "study.json") }
    #expect(outcome.code == .pass, "\(outcome.text)")
    let variants = try #require(project.scenario(of: "study.json")["variants"] as? [[String: Any]])
    #expect(variants.contains { $0["setting"] as? [String: String] == ["aslr": "on"] })
    #expect(variants.allSatisfy { $0["repetitions"] as? Int == 6 })
    let measured = project.measurer.measured
    #expect(measured.count == 13 + 7 * variants.count)
    // Repetitions with random addresses are spread over the whole run.
    let random = measured.indices.filter { measured[$0].isolation.randomAddresses }
    #expect(random.count == 7)
    let (first, last) = (try #require(random.first), try #require(random.last))
    #expect(first < 6 && last > measured.count - 7)
  }

  @Test("Copies run side by side if the project has `jobs`, and what they change is told", arguments: [0.0, 6.0])
  func sideBySide(disturbance: Double) throws {
    let script: ScriptedMeasurer.Script = { scenario, start in
      .holding(20 + Double(start * 7 % 5) / 256 + (scenario.name.text.hasSuffix("jobs: 3") ? disturbance : 0))
    }
    let project = try project(jobs: 3, script)
    let outcome = try project.noise { $0.repetitions = 10 }
    #expect(outcome.code == .pass, "\(outcome.text)")
    // A warm-up and five repetitions of each copy.
    #expect(project.measurer.measured.count { $0.name.text.hasSuffix("jobs: 3") } == 3 * 6)
    let finding = "disturbed with `jobs: 3`: the level of peak_rss changes by +6.0"
    #expect(outcome.text.contains(finding) == (disturbance > 0), "\(outcome.text)")
    #expect(outcome.text.contains("`exclusive: true`") == (disturbance > 0), "\(outcome.text)")
    #expect(outcome.text.contains("the same with `jobs: 3`, beside copies of itself") == (disturbance == 0))

    let alone = try self.project(jobs: 3, isExclusive: true, script)
    #expect(try !alone.noise { $0.repetitions = 10 }.text.contains("jobs"))
  }

  @Test("The result, baselines and outputs of a check are unchanged")
  func untouched() throws {
    let project = try project { _, _ in .holding(8, output: "said\n") }
    try project.checkAndApprove()
    let files = [".highwater/result.json", ".highwater/output/it/1.log", try project.baseline(of: "it")]
    let before = try files.map(project.read)
    #expect(try project.noise { $0.repetitions = 5 }.code == .pass)
    #expect(try files.map(project.read) == before)
    #expect(try project.read(".highwater/noise/output/it/5.log") == "said\n")
    #expect(project.exists(".highwater/noise/recordings/it/5.jsonl"))
    #expect(project.exists(".highwater/noise/aslr=on/recordings/it/5.jsonl"))
  }

  @Test("`--json -` prints only the study, and the report goes to standard error; a file gets the same")
  func json() throws {
    let project = try project(Self.quiet)
    let printed = try project.noise {
      ($0.triesVariants, $0.repetitions, $0.options.json) = (false, 5, "-")
    }
    #expect(printed.code == .pass && printed.errors.contains("5 repetitions"))
    try project.write(printed.output, to: "printed.json")
    let study = try project.object("printed.json")
    #expect(study["schema"] as? String == "highwater.noise/1")
    #expect(study["verdict"] as? String == "pass" && study["exitCode"] as? Int == 0)
    let metrics = try #require(project.scenario(of: "printed.json")["metrics"] as? [[String: Any]])
    let peak = try #require(metrics.first { $0["name"] as? String == "peak_rss" })
    #expect((peak["values"] as? [Double])?.count == 5)
    #expect((peak["detectable"] as? [[String: Any]])?.compactMap { $0["repetitions"] as? Int } == [5, 10, 20])
    let written = try project.noise { ($0.triesVariants, $0.repetitions, $0.options.json) = (false, 5, "n/x.json") }
    #expect(written.output.contains("5 repetitions"))
    #expect(try project.object("n/x.json")["schema"] as? String == "highwater.noise/1")
  }

  @Test("A failing target exits with 3 at once, with the same message as a check")
  func failing() throws {
    let project = try project(warmup: 0) { _, _ in .holding(8, end: End(.exited, code: 7), output: "because\n") }
    let noise = try project.noise()
    #expect(noise.code == .failed && noise.verdict == "failed")
    #expect(noise.output.contains("the target ended: exited with code 7"), "\(noise.output)")
    #expect(noise.output.contains("because"), "\(noise.output)")
    #expect(noise.output.contains(".highwater/noise/output/it/1.log"), "\(noise.output)")
    #expect(project.measurer.measured.count <= 4, "it continues after a failure")
    #expect(try project.check().output.contains("the target ended: exited with code 7"))
  }

  @Test("A scenario that fails only with a variant is studied, and the variant is named")
  func failingVariant() throws {
    let project = try project { scenario, _ in
      .holding(8, end: End(.exited, code: scenario.isolation.randomAddresses ? 1 : 0))
    }
    let noise = try project.noise { $0.repetitions = 5 }
    #expect(noise.code == .pass, "\(noise.output)")
    #expect(noise.text.contains("fails with `isolation: {aslr: on}`: "), "\(noise.output)")
  }

  @Test("A target without samples is inconclusive")
  func withoutSamples() throws {
    let project = try project { _, _ in Recording(end: End(.exited, code: 0)) }
    let noise = try project.noise { ($0.triesVariants, $0.repetitions) = (false, 5) }
    #expect(noise.code == .inconclusive)
    #expect(noise.output.contains("no values"), "\(noise.output)")
  }

  @Test("An interruption ends the study without a report")
  func interruption() throws {
    let project = try project { _, start in start < 3 ? .holding(8) : nil }
    let noise = try project.noise()
    #expect(noise.code == .interrupted)
    #expect(noise.output.isEmpty && noise.errors.contains("interrupted"))
  }
}
