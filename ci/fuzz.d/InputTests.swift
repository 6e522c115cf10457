import Foundation
import Testing

/// The committed inputs of `ci/fuzz`: forms that the program reads, and inputs that once broke it.
@Suite("Inputs of fuzzing", .serialized)
struct InputTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  // A process opens its FIFO for marks once, and other tests use marks without one.
  @Test("What others write is read as promised", arguments: FuzzTarget.all.filter { $0.name != "marks-in-c" })
  func inputs(of target: FuzzTarget) throws {
    let own = try FileManager.default.contentsOfDirectory(
      at: Self.folder.appending(path: "inputs/\(target)"), includingPropertiesForKeys: nil)
    let examples = target.examples.map { Self.folder.appending(path: "../../Tests/\($0)") }
    #expect(!own.isEmpty)
    #expect(throws: Never.self, "no bytes") { try target.read([]) }
    for input in own + examples {
      #expect(throws: Never.self, "\(input.lastPathComponent)") { try target.read([UInt8](Data(contentsOf: input))) }
    }
  }

  @Test("Each folder of inputs belongs to a target")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "inputs").path)
    #expect(folders.sorted() == FuzzTarget.all.map(\.name).sorted())
  }
}
