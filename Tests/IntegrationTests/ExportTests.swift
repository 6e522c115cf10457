import Foundation
import Testing

@Suite("Exporting recordings, from outside")
struct ExportTests {
  @Test("The recordings of a check are written as JSON and CSV, with the peak that the result has")
  func afterCheck() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Gate.run("check", in: project)
    let recordings = [1, 2].map { ".highwater/recordings/load/\($0).hwrec" }

    let json = try Gate.start(["export"] + recordings, in: project).wait()
    #expect(json.code == 0 && json.errors.isEmpty, "\(json.errors)")
    let document = try object(in: json.output)
    #expect(document["schema"] as? String == "highwater.recording/1")
    let exported = try #require(document["recordings"] as? [[String: Any]])
    #expect(exported.compactMap { $0["file"] as? String } == recordings)
    let samples = try #require(exported.first?["samples"] as? [[String: Any]])
    let highest = samples.compactMap { $0["peak"] as? Int }.max() ?? 0
    #expect(highest > 8 << 20)

    let csv = try Gate.start(["export", "--format", "csv", "--output", "out.csv"] + recordings, in: project).wait()
    #expect(csv.code == 0 && csv.output.isEmpty && csv.errors.isEmpty, "\(csv.errors)")
    let rows = try project.read("out.csv").split(separator: "\n")
    #expect(rows.count > samples.count)
    #expect(rows.dropFirst().contains { $0.split(separator: ",", omittingEmptySubsequences: false)[2] == "\(highest)" })
  }

  @Test("What is no recording ends with 2, and writes nothing to standard output, though the first one is sound")
  func unsound() throws {
    let project = try TemporaryProject.holding(8)
    _ = try Gate.run("check", in: project)
    try project.write("{}", to: "x.hwrec")
    let outcome = try Gate.run("export", ".highwater/recordings/load/1.hwrec", "x.hwrec", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("x.hwrec: error: is not a recording"))
  }
}
