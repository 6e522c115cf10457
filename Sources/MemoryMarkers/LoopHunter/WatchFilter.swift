#if LoopHunter

/// Tells most objects that are not watched from those that are, by one relaxed load.
///
/// A Bloom filter of one hash and 4096 bits: of objects that are not watched, 2.4 % look as if they were where 100 are.
struct WatchFilter: ~Copyable, Sendable {
  private static let words = 64

  private let bits = SharedBits(words: words)

  func mayContain(_ object: ObjectIdentifier) -> Bool {
    let (word, bit) = Self.place(of: object)
    return bits[word] & bit != 0
  }

  /// Makes the filter one of exactly these objects, without ever losing one that stays.
  func replace(with objects: some Sequence<ObjectIdentifier>) {
    var next = [UInt64](repeating: 0, count: Self.words)
    for object in objects {
      let (word, bit) = Self.place(of: object)
      next[word] |= bit
    }
    for word in 0..<Self.words { bits[word] = next[word] }
  }

  func insert(_ object: ObjectIdentifier) {
    let (word, bit) = Self.place(of: object)
    bits.insert(bit, at: word)
  }

  /// Twelve bits of the address, mixed by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
  private static func place(of object: ObjectIdentifier) -> (word: Int, bit: UInt64) {
    let mixed = UInt64(UInt(bitPattern: object)) &* 0x9e37_79b9_7f4a_7c15
    return (Int(mixed >> 58), 1 << (mixed >> 52 & 63))
  }
}

#endif
