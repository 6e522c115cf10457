import FoundationEssentials
import MemoryMarkers

/// A custom store: JSON in a file.
struct JSONStore: PriorRunStore {
  let path: String
  /// The call that fails: `load`, `save`, or another word for none.
  let failing: String

  struct StoreError: Error {
    let call: String
  }

  func load() throws -> PriorRun? {
    if failing == "load" { throw StoreError(call: "load") }
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try JSONDecoder().decode(PriorRun.self, from: data)
  }

  func save(_ run: PriorRun, durability: LaunchReason.Durability) throws {
    if failing == "save" { throw StoreError(call: "save") }
    try JSONEncoder().encode(run).write(to: URL(filePath: path), options: .atomic)
  }
}
