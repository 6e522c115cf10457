import Foundation
import Testing

@Suite("The command `export`")
struct ExportTests {
  @Test("The recordings of a check are exported as JSON and CSV, with their samples")
  func afterCheck() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Highwater.run("check", in: project)
    let recordings = [1, 2].map { ".highwater/recordings/load/\($0).hwrec" }

    let json = try Highwater.start(["export"] + recordings, in: project).wait()
    #expect(json.code == 0 && json.errors.isEmpty, "\(json.errors)")
    let document = try object(in: json.output)
    #expect(document["schema"] as? String == "highwater.recording/1")
    let exported = try #require(document["recordings"] as? [[String: Any]])
    #expect(exported.compactMap { $0["file"] as? String } == recordings)
    let samples = try #require(exported.first?["samples"] as? [[String: Any]])
    let highest = samples.compactMap { $0["peak"] as? Int }.max() ?? 0
    #expect(highest > 8 << 20)

    let csv = try Highwater.start(["export", "--format", "csv", "--output", "out.csv"] + recordings, in: project).wait()
    #expect(csv.code == 0 && csv.output.isEmpty && csv.errors.isEmpty, "\(csv.errors)")
    let rows = try project.read("out.csv").split(separator: "\n")
    #expect(rows.count > samples.count)
    #expect(rows.dropFirst().contains { $0.split(separator: ",", omittingEmptySubsequences: false)[2] == "\(highest)" })
  }

  @Test("A file that is no recording ends with 2 and no output, though the first file is one")
  func noRecording() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Highwater.run("check", in: project)
    try project.write("{}", to: "x.hwrec")
    let outcome = try Highwater.run("export", ".highwater/recordings/load/1.hwrec", "x.hwrec", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("x.hwrec: error: is not a recording"))
  }
}
