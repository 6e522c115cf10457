import Foundation
import GateCore
import Testing

@testable import GateProbe

/// The target can write anything into this file.
@Suite("Counts of instances that a target wrote")
struct InstanceFileTests {
  private static let (header, record, classes) = (64, 288, 8192)
  private static let names = header + record * classes

  private let path = NSTemporaryDirectory() + "highwater-instances-\(UUID().uuidString)"

  /// A file with one class, and the header's number of classes.
  private func file(
    classes: UInt32 = 1, refusal: Int32 = 0, name: UInt32 = 0, length: UInt16 = 4, allocated: UInt64, freed: UInt64
  ) throws -> InstanceFile? {
    var bytes = Data(count: Self.names + 1 << 20)
    func set<Number>(_ number: Number, at offset: Int) {
      withUnsafeBytes(of: number) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
    set(UInt64(0x3173_6e49_7768_4948), at: 0)
    set(refusal, at: 12)
    set(classes, at: 16)
    set(UInt32.max, at: 20)
    set(name, at: Self.header + 8)
    set(length, at: Self.header + 12)
    // In the first and in the last of eight shards.
    set(allocated, at: Self.header + 32)
    set(freed, at: Self.header + 32 + 7 * 32 + 8)
    bytes.replaceSubrange(Self.names..<Self.names + 4, with: Data("Node".utf8))
    try bytes.write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    return InstanceFile(at: path)
  }

  @Test("Living instances are the allocated ones without the released ones, over all shards")
  func live() throws {
    #expect(try file(allocated: 151, freed: 51)?.live == ["Node": 100])
    #expect(try file(refusal: 2, allocated: 151, freed: 51)?.refusal == .unknownCode)
  }

  @Test("Impossible numbers, names and places are left out")
  func impossible() throws {
    #expect(try file(allocated: 1, freed: 2)?.live == [:], "not all allocations were seen")
    #expect(try file(allocated: .max, freed: 0)?.live == ["Node": 1 << 40])
    #expect(try file(name: .max, length: .max, allocated: 1, freed: 0)?.live == [:])
    #expect(try file(classes: .max, allocated: 1, freed: 0)?.live == ["Node": 1])
  }

  @Test("Another file, a short one, a link and a FIFO are no counts, and no reader waits for a writer")
  func otherFiles() throws {
    #expect(InstanceFile(at: "/proc/self/status") == nil)
    try Data("HIhwIns1".utf8).write(to: URL(fileURLWithPath: path))
    #expect(InstanceFile(at: path) == nil)
    symlink(path, path + ".link")
    mkfifo(path + ".fifo", 0o600)
    #expect(InstanceFile(at: path + ".link") == nil)
    #expect(InstanceFile(at: path + ".fifo") == nil)
    for name in ["", ".link", ".fifo"] { unlink(path + name) }
  }
}
