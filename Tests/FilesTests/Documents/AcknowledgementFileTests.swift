import FoundationEssentials
import Testing

@testable import GateApplication
@testable import GateCore

@Suite("Acknowledged events")
struct AcknowledgementFileTests {
  private static let run = RunInfo(
    id: "01a200e2-ec45-7395-8ac1-000000000001", startedAt: Date(timeIntervalSince1970: 1_767_323_045),
    commit: "4f2a91c0d6e8b7a1", branch: "main")

  private static var acknowledgement: Acknowledgement {
    let change = TrendEvent.Change(
      series: 0, scenario: ScenarioName("load"), environment: "linux", metric: .peakRSS, unit: "bytes", before: 1e6,
      after: 2e6, chance: 0.001, run: 3, persists: true)
    let event = TrendEvent(
      id: "4f2a91c0d", kind: .rise, branch: "main", after: run, changes: [change], measured: 1, cause: .init())
    return Acknowledgement(
      of: event, at: Date(timeIntervalSince1970: 1_767_400_000), by: "Ada", reason: "the new cache")
  }

  @Test("The file matches the golden file, and reads as it was written")
  func roundTrip() throws {
    let bytes = AcknowledgementFile.encode([Self.acknowledgement])
    try DocumentGolden.expect(bytes, toBe: "acknowledgements.json")
    #expect(try AcknowledgementFile.decode(bytes, path: "events.json") == [Self.acknowledgement])
  }

  @Test("A project without the file has no acknowledgements, and a file of another kind is rejected")
  func otherFiles() throws {
    let folder = try ScratchFolder()
    #expect(try AcknowledgementFile.load(from: folder.path).isEmpty)
    try AcknowledgementFile.save([Self.acknowledgement], to: folder.path)
    #expect(try AcknowledgementFile.load(from: folder.path).count == 1)
    try SafeFile.write(Array(#"{"schema": "highwater.run/2", "events": []}"#.utf8), to: "\(folder.path)/events.json")
    #expect(throws: FileError.self) { try AcknowledgementFile.load(from: folder.path) }
  }
}
