import LinuxSystem
import Synchronization
import Testing

@testable import GateProbe

@Suite("The listener thread", .timeLimit(.minutes(60)))
struct ListenerTests {
  private final class Basket: Sendable {
    let bytes = Mutex<[UInt8]>([])

    func append(_ piece: ArraySlice<UInt8>) { bytes.withLock { $0 += piece } }
    var count: Int { bytes.withLock { $0.count } }
  }

  @Test("A catch-up receives all data written before it")
  func catchUp() throws {
    let listener = try Listener()
    try listener.start()
    defer { listener.stop() }
    let pipes = try (0..<5).map { _ in try Descriptor.pipe(readerBlocks: false) }
    let baskets = pipes.map { _ in Basket() }
    for (pipe, basket) in zip(pipes, baskets) { listener.add(.reading(pipe.reader) { basket.append($0) }) }
    for round in 1...50 {
      for pipe in pipes { _ = pipe.writer.write([UInt8](repeating: 1, count: 1000)) }
      listener.catchUp()
      #expect(baskets.map(\.count) == Array(repeating: round * 1000, count: 5))
    }
  }

  @Test("No catch-up is missed while data arrives, which wakes the thread at any moment")
  func busyCatchUp() throws {
    let listener = try Listener()
    try listener.start()
    defer { listener.stop() }
    let pipe = try Descriptor.pipe(readerBlocks: false)
    listener.add(.reading(pipe.reader) { _ in })
    let missed = (0..<20_000).count { _ in
      _ = pipe.writer.write([1])
      return !listener.catchUp()
    }
    #expect(missed == 0)
  }

  @Test("A text larger than the pipe is written completely, then the pipe is closed")
  func writing() throws {
    let listener = try Listener()
    try listener.start()
    defer { listener.stop() }
    let basket = Basket()
    let text = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
    do {
      let pipe = try Descriptor.pipe(readerBlocks: false, writerBlocks: false)
      listener.add(.writing(pipe.writer, text[...]))
      listener.add(.reading(pipe.reader) { basket.append($0) })
    }
    #expect(eventually { basket.count == text.count })
    #expect(basket.bytes.withLock { $0 == text })
  }

  @Test("Writing to a pipe without readers causes no SIGPIPE, and does not block the listener")
  func noReader() throws {
    let listener = try Listener()
    try listener.start()
    let writer = try Descriptor.pipe(writerBlocks: false).writer
    #expect(writer.write([1]) == .failed(32))
    listener.add(.writing(writer, [UInt8](repeating: 1, count: 100_000)[...]))
    listener.catchUp()
    listener.stop()
  }
}
