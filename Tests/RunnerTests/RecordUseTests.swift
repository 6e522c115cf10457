import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Recording a command, with scripted recordings")
struct RecordUseTests {
  private func record(
    _ command: [String] = ["sh", "-c", "true"],
    in project: UseCaseProject,
    _ configure: (inout Record) -> Void = { _ in }
  ) throws -> UseCaseProject.Outcome {
    var record = Record(command: command)
    configure(&record)
    return try project.run(variables: ["TMPDIR": project.path]) { try record.run(in: $0) }
  }

  @Test("The report has the peak; the command's output is printed only with `--show-output`")
  func report() throws {
    let project = try UseCaseProject(holding: 8)
    project.measurer.follow { _, _ in .holding(8, output: "marvellous\n") }
    let silent = try record(in: project)
    #expect(silent.code == .pass)
    #expect(silent.output.contains("peak") && silent.output.contains("8.0 MiB"), "\(silent.output)")
    #expect(!silent.output.contains("marvellous") && !silent.errors.contains("marvellous"))
    let shown = try record(in: project) { $0.showsOutput = true }
    #expect(shown.errors.contains("marvellous\n") && !shown.output.contains("marvellous"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: project.path) == ["highwater.yml"])
  }

  @Test("With `--json -` standard output has only the result, and a file gets the same")
  func json() throws {
    let project = try UseCaseProject(holding: 8)
    let printed = try record(in: project) { $0.options.json = "-" }
    try project.write(printed.output, to: "printed.json")
    #expect(try project.object("printed.json")["schema"] as? String == "highwater.result/1")
    #expect(try project.object("printed.json")["exitCode"] as? Int == 0)
    #expect(try project.scenario(of: "printed.json")["name"] as? String == "sh")
    let written = try record(in: project) { $0.options.json = "r/x.json" }
    #expect(written.code == .pass && written.output.contains("peak"))
    #expect((try project.scenario(of: "r/x.json")["repetitions"] as? [Any])?.count == 1)
  }

  @Test("Repetitions are counted and follow a warm-up")
  func repetitions() throws {
    let project = try UseCaseProject(holding: 8)
    #expect(try record(in: project) { ($0.repetitions, $0.options.json) = (3, "x.json") }.code == .pass)
    #expect(project.measurer.measured.count == 4)
    #expect((try project.scenario(of: "x.json")["repetitions"] as? [Any])?.count == 3)
  }

  @Test(
    "The exit code reflects how the command ended",
    arguments: [
      (End(.exited, code: 3), ExitCode.failed), (End(.crash, signal: .segv), .failed),
      (End(.killed, signal: .kill), .inconclusive), (End(.exited, code: 0), .pass),
    ])
  func ends(end: End, code: ExitCode) throws {
    let project = try UseCaseProject(holding: 8)
    project.measurer.follow { _, _ in .holding(8, end: end) }
    #expect(try record(in: project).code == code)
  }

  @Test("The command inherits the working directory and all variables")
  func inherited() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try record(["./tool", "a  b"], in: project)
    let target = try #require(project.measurer.measured.first?.target)
    #expect(target.command == .arguments(["./tool", "a  b"]))
    #expect(target.workingDirectory == project.path && target.inheritedEnvironment == ["TMPDIR"])
  }

  @Test("The page has the values and the command that repeats the recording")
  func page() throws {
    let project = try UseCaseProject(holding: 30)
    #expect(try record(["python3", "-c", "x = 1"], in: project) { $0.options.html = "page.html" }.code == .pass)
    let page = try project.read("page.html")
    #expect(page.contains("python3") && page.contains("30.0") && page.contains("highwater record -- python3 -c"))
  }
}
