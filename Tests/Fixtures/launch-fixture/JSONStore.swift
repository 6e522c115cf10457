import FoundationEssentials
import MemoryMarkers

/// A store of a program's own: JSON in a file.
struct JSONStore: PriorRunStore {
  let path: String
  /// What fails: `load`, `save`, or nothing.
  let failing: String

  struct Refused: Error {
    let call: String
  }

  func load() throws -> PriorRun? {
    if failing == "load" { throw Refused(call: "load") }
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try JSONDecoder().decode(PriorRun.self, from: data)
  }

  func save(_ run: PriorRun, durability: Durability) throws {
    if failing == "save" { throw Refused(call: "save") }
    try JSONEncoder().encode(run).write(to: URL(filePath: path), options: .atomic)
  }
}
