import MarkerProtocol
import Testing

@Suite("Reading a marks FIFO")
struct MarkerReaderTests {
  private func read(_ text: String, piece: Int) -> (messages: [MarkerMessage], unknown: Int) {
    var reader = MarkerReader()
    var messages: [MarkerMessage] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.read(rest.prefix(piece)) { messages.append($0) }
      rest = rest.dropFirst(piece)
    }
    reader.finish()
    return (messages, reader.unknownLines)
  }

  @Test("Messages are found however the bytes are split", arguments: [1, 2, 3, 7, 64, 4096])
  func split(piece: Int) {
    let (messages, unknown) = read("phase a\nmark b\n\nnonsense\niteration\n", piece: piece)
    #expect(messages == [.phase("a"), .mark("b"), .iteration])
    #expect(unknown == 2)
  }

  @Test("A line that is too long counts once, and the next one is read", arguments: [1, 100, 4096])
  func overlong(piece: Int) {
    let (messages, unknown) = read("mark " + String(repeating: "a", count: 3000) + "\niteration\n", piece: piece)
    #expect(messages == [.iteration])
    #expect(unknown == 1)
  }

  @Test("An incomplete last line counts as unknown")
  func incomplete() {
    let (messages, unknown) = read("iteration\nmark a", piece: 100)
    #expect(messages == [.iteration])
    #expect(unknown == 1)
  }

  @Test("Arbitrary bytes are read", arguments: 0..<20)
  func noise(seed: UInt64) {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    let bytes = (0..<5000).map { _ -> UInt8 in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state.isMultiple(of: 9) ? 0x0a : UInt8(truncatingIfNeeded: state >> 20)
    }
    var reader = MarkerReader()
    var messages = 0
    reader.read(bytes) { _ in messages += 1 }
    #expect(messages + reader.unknownLines == bytes.count { $0 == 0x0a })
  }
}
