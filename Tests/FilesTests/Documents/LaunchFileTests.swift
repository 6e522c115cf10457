import Foundation
import GateCore
import LaunchRecords
import Testing

@testable import GateApplication

@Suite("Launch records as files")
struct LaunchFileTests {
  private static var record: LaunchRecord {
    var record = LaunchRecord()
    record.run.pid = 4711
    record.run.appVersion = "1.4.2"
    record.run.kernelRelease = "6.18.2"
    record.run.cgroup = "/sys/fs/cgroup/app"
    record.activity = .idle
    record.oomKillsAtStart = 3
    record.last.bootTime = 90_000_000_000
    record.last.wallTime = 1_767_225_600_000_000_000
    record.last.resident = 20 << 20
    record.last.peakResident = 31 << 20
    record.last.limit = 64 << 20
    record.last.oomKills = 5
    record.launchFailures = 2
    record.tag = 9
    return record
  }

  private func page(_ record: LaunchRecord?) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: LaunchPage.size)
    if let record { bytes.withUnsafeMutableBytes { LaunchPage.store(record, sequence: 1, in: $0) } }
    return bytes
  }

  private func read(_ bytes: [UInt8]) throws -> LaunchSummary? {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-\(UUID().uuidString).launch")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(bytes).write(to: file)
    return try LaunchFile.read(file.path)
  }

  @Test("A record gives the program's ending; only OOM kills of its own lifetime count")
  func whole() throws {
    let expected = LaunchSummary(
      ending: .unmarked, activity: "idle", appVersion: "1.4.2", process: 4711,
      lastSeen: Date(timeIntervalSince1970: 1_767_225_600), resident: .mebibytes(20), peak: .mebibytes(31),
      limit: .mebibytes(64), oomKills: 2, launchFailures: 2, kernel: "6.18.2", cgroup: "/sys/fs/cgroup/app")
    #expect(try read(page(Self.record)) == expected)
  }

  @Test("A crash takes precedence over a stop request, which takes precedence over an exit code")
  func endings() throws {
    var record = Self.record
    record.exit = .init(code: 0)
    #expect(try read(page(record))?.ending == .exited(code: 0))
    record.request = .init(signal: 15, sender: .process(1))
    #expect(try read(page(record))?.ending == .requested(.term, sender: 1))
    record.request = .init(signal: 15, sender: .kernel)
    #expect(try read(page(record))?.ending == .requested(.term, sender: nil))
    record.crash = 11
    #expect(try read(page(record))?.ending == .crashed(.segv))
  }

  @Test("A hang lasts until the program was last seen")
  func hang() throws {
    var record = Self.record
    record.hangBegan = 60_000_000_000
    #expect(try read(page(record))?.hungFor == .seconds(30))
  }

  @Test("A record without a completed write gives no summary")
  func empty() throws {
    #expect(try read(page(nil)) == nil)
    #expect(try read([]) == nil)
  }

  @Test("A damaged record, another file and a later version are distinct errors")
  func damaged() throws {
    var bytes = page(Self.record)
    for index in bytes.indices where index >= 512 { bytes[index] ^= 0xff }
    #expect(throws: FileError.self) { try read(bytes) }
    #expect(throws: FileError.self) { try read(Array("no record".utf8)) }
    var later = page(Self.record)
    later[8] = 7
    let error = #expect(throws: FileError.self) { try read(later) }
    #expect(error?.code == .wrongSchema && error?.problem.contains("version 7") == true)
    let large = #expect(throws: FileError.self) { try read([UInt8](repeating: 1, count: 1 << 20)) }
    #expect(large?.code == .tooLarge)
  }
}
