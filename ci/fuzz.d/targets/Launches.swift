import GateApplication
import GateCore
import MemoryMarkers

@testable import LaunchRecords

extension FuzzTarget {
  /// The file of a launch record, as `highwater launches` and the next run of the program read it; with a first byte
  /// other than that of a record, the rest is the content of one, with a valid checksum.
  static let launchRecord = FuzzTarget("launch-record") { input in
    guard let first = input.first, first != 0, first != UInt8(ascii: "H") else { return try expectReadable(input) }
    var record = LaunchRecord()
    var page = [UInt8](repeating: 0, count: LaunchPage.size)
    input.dropFirst().withUnsafeBytes { bytes in
      var reader = FieldReader(bytes)
      record.code(with: &reader)
    }
    // The page must have the marks that the record has.
    (record.crash, record.exit) = (Int32(first & 0x7f), LaunchRecord.Exit(code: Int32(first)))
    page.withUnsafeMutableBytes { LaunchPage.store(record, sequence: UInt64(first), in: $0) }
    guard let loaded = try LaunchPage.load(page) else { throw BrokenPromise(description: "a stored record is lost") }
    try promise(loaded.sequence == UInt64(first), "the sequence of a record changes")
    // Bytes that are not UTF-8 are repaired by the first reading, not by the second.
    page.withUnsafeMutableBytes { LaunchPage.store(loaded.record, sequence: loaded.sequence, in: $0) }
    guard let again = try LaunchPage.load(page) else { throw BrokenPromise(description: "a stored record is lost") }
    var other = page
    other.withUnsafeMutableBytes { LaunchPage.store(again.record, sequence: again.sequence, in: $0) }
    try promise(other == page, "a record changes when it is stored: \(again.record)")
    try expectReadable(page)
  }

  /// Reads the page by both ways, which must agree on whether it is a record.
  private static func expectReadable(_ page: [UInt8]) throws {
    let path = Scratch.write(page, to: "program.launch")
    var summary: LaunchSummary?
    do throws(FileError) {
      summary = try LaunchFile.read(path)
    } catch {
      try PrintedText.expectReadable(error.diagnostics)
    }
    try PrintedText.expectHarmless(LaunchReport.text(summary, of: path, style: TerminalStyle()))
    let prior = try? FileRunStore(folder: Scratch.folder, instance: "program").load()
    try promise((prior != nil) == (summary != nil), "only one of the two readers finds a record")
  }
}
