import GateCore

/// The records of ended processes; if there are too many, only those with the highest peaks.
struct ProcessArchive {
  /// Bounds the memory for targets that start processes forever; 4096 records take half a MiB.
  private static let maxRecords = 4096

  private(set) var records: [ProcessRecord] = []
  /// The number of discarded records.
  private(set) var dropped = 0

  mutating func add(_ record: ProcessRecord) {
    records.append(record)
    guard records.count >= 2 * Self.maxRecords else { return }
    records.sort { ($0.isMain ? 1 : 0, $0.peak) > ($1.isMain ? 1 : 0, $1.peak) }
    dropped += records.count - Self.maxRecords
    records.removeLast(records.count - Self.maxRecords)
  }
}
