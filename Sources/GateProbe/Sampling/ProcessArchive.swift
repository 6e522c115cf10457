import GateCore

/// The records of processes that have ended: of very many those with the highest peaks.
struct ProcessArchive {
  /// A target may start processes for ever; 4096 records take half a MiB.
  private static let most = 4096

  private(set) var records: [ProcessRecord] = []
  /// How many are not among the records.
  private(set) var dropped = 0

  mutating func add(_ record: ProcessRecord) {
    records.append(record)
    guard records.count >= 2 * Self.most else { return }
    records.sort { ($0.isMain ? 1 : 0, $0.peak) > ($1.isMain ? 1 : 0, $1.peak) }
    dropped += records.count - Self.most
    records.removeLast(records.count - Self.most)
  }
}
